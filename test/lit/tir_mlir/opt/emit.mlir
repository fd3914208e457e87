// One program in every form.
// RUN: tir-opt %s | FileCheck %s --check-prefix=MLIR
// RUN: tir-opt %s --emit=generic | FileCheck %s --check-prefix=GENERIC
// RUN: tir-opt %s --emit=script | FileCheck %s --check-prefix=SCRIPT
// RUN: tir-opt %s --emit=llvm | FileCheck %s --check-prefix=LLVM
// RUN: tir-opt %s --tir-lower-to-llvm | FileCheck %s --check-prefix=DIALECT
// RUN: tir-opt %s --tir-lower --emit=llvm | FileCheck %s --check-prefix=LLVM
// RUN: tir-opt %s --mlir-print-debuginfo | FileCheck %s --check-prefix=DEBUG
// RUN: tir-opt %s --emit=script -o %t.py && tir-opt %t.py --emit=script | FileCheck %s --check-prefix=SCRIPT
// RUN: tir-opt - --emit=script < %t.py | FileCheck %s --check-prefix=SCRIPT
// RUN: not tir-opt %s -o %t/nowhere/x.mlir 2>&1 | FileCheck %s --check-prefix=WRITE

// MLIR: affine.parallel
// GENERIC: "affine.parallel"
// SCRIPT: class Module:
// SCRIPT: def main(A: T.Buffer((16,), "float32")):
// SCRIPT: A[v0] = T.float32(1.0)
// LLVM: define void @tir.main(ptr
// LLVM: define void @_mlir_ciface_main(ptr
// DIALECT: llvm.func @tir.main(
// DEBUG: loc(
// WRITE: x.mlir:1:1: error: cannot be written: No such file or directory

func.func @main(%A: memref<16xf32> {tir.name = "A"}) {
  %c = arith.constant 1.0 : f32
  affine.for %i = 0 to 16 {
    affine.parallel (%v) = (%i) to (%i + 1) {
      affine.store %c, %A[%v] : memref<16xf32>
    } {tir.block = "A", tir.iters = ["S"], tir.min = affine_map<() -> (0)>, tir.extent = affine_map<() -> (16)>}
  } {tir.loop = "i"}
  return
}
