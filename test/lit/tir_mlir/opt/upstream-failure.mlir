// A pass that complains and succeeds has failed, in process and in an mlir-opt of its own (of such a pass mlir-opt exits 0).
// RUN: tir-opt %s --convert-scf-to-cf --expand-strided-metadata --finalize-memref-to-llvm --verify-diagnostics
// RUN: tir-opt %s --isolated --convert-scf-to-cf --expand-strided-metadata --finalize-memref-to-llvm --verify-diagnostics

// expected-error @unknown {{conversion of memref memory space "shared" to integer address space failed}}
func.func @f(%A: memref<4xf32, "shared">, %i: index) -> f32 {
  %x = memref.load %A[%i] : memref<4xf32, "shared">
  return %x : f32
}
