// A pass of MLIR that takes away the sizes of a program leaves none for ours: told, not stumbled over.
// RUN: tir-opt %s --finalize-memref-to-llvm --tir-lower --verify-diagnostics
// RUN: tir-opt %s --finalize-memref-to-llvm --tir-to-linalg --verify-diagnostics

#shape = affine_map<()[s0] -> (s0)>
#zero = affine_map<()[s0] -> (0)>
// expected-error @below {{no shape variable of the function is called n (it has none); a pass may have removed it}}
func.func @main(%A: memref<?xf32> {tir.name = "A", tir.shape = #shape, tir.syms = ["n"]}) attributes {tir.id = 0 : i64} {
  %c0 = arith.constant 0 : index
  %n = memref.dim {tir.name = "n"} %A, %c0 : memref<?xf32>
  affine.for %i = 0 to %n {
    affine.parallel (%vi) = (%i) to (%i + 1) {
      %x = affine.load %A[%vi] : memref<?xf32>
      %y = arith.addf %x, %x : f32
      affine.store %y, %A[%vi] : memref<?xf32>
    } {tir.block = "A", tir.extent = #shape, tir.id = 2 : i64, tir.iters = ["S"], tir.min = #zero, tir.names = ["vi"], tir.syms = ["n"]}
  } {tir.id = 1 : i64, tir.loop = "i"}
  return
}
