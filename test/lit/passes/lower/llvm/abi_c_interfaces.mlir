// RUN: tir-opt %s -p tir-lower-abi-c-interfaces | FileCheck %s

// CHECK: llvm.func @_mlir_ciface_exp(
// CHECK: llvm.call @tir.exp(
// CHECK: llvm.func @tir.exp(
// A name with a dot is the symbol of its code, too.
// CHECK: llvm.func @_mlir_ciface_layer.exp(
llvm.func @_mlir_ciface_tir.exp(%p: !llvm.ptr) {
  llvm.call @tir.exp(%p) : (!llvm.ptr) -> ()
  llvm.return
}
llvm.func @tir.exp(%p: !llvm.ptr) {
  llvm.return
}
llvm.func @_mlir_ciface_layer.exp(%p: !llvm.ptr) {
  llvm.return
}
