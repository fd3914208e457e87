// RUN: tir-opt %s -p tir-lower-abi | FileCheck %s

// The code of a function has a symbol that no C function has.
// CHECK: func.func @tir.main({{.*}}) attributes {llvm.emit_c_interface}
// CHECK: call @tir.kernel(
// CHECK: call @outside(
// CHECK: func.func private @tir.kernel({{.*}}) attributes {llvm.linkage = #llvm.linkage<internal>}
// A declaration is somebody else's: nothing is promised.
// CHECK: func.func private @outside(memref<8xf32>){{$}}
func.func @main(%A: memref<8xf32>) {
  call @kernel(%A) : (memref<8xf32>) -> ()
  call @outside(%A) : (memref<8xf32>) -> ()
  return
}
func.func private @kernel(%A: memref<8xf32>) {
  return
}
func.func private @outside(memref<8xf32>)
