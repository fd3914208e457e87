// A failing pass leaves the module before it and the passes left; tir-opt runs that file as it is.
// RUN: rm -rf %t && mkdir %t
// RUN: not tir-opt %s --tir-split="loop=i factors=4,none" --tir-split="loop=i_0 factors=2,1" --canonicalize --reproducer=%t/r.mlir 2>&1 | FileCheck %s
// RUN: FileCheck %s --check-prefix=FILE < %t/r.mlir
// RUN: not tir-opt %t/r.mlir --reproducer=%t/again.mlir 2>&1 | FileCheck %s --check-prefix=AGAIN
// RUN: FileCheck %s --check-prefix=FILE < %t/again.mlir
// RUN: tir-opt %t/r.mlir --tir-parallel=loop=i_0 --emit=script | FileCheck %s --check-prefix=OTHER
// RUN: env TMPDIR=%t not tir-opt %s --tir-split="loop=i factors=1" 2>&1 | FileCheck %s --check-prefix=TEMPORARY

// CHECK: reproducer.mlir:[[#@LINE+18]]:3: error: split(loop=i_0, factors=[2, 1]): refused: the factors [2, 1] multiply to 2, less than the extent 4
// CHECK-NEXT: affine.for %i = 0 to 16 {
// CHECK-NEXT: ^
// CHECK-NEXT: tir-opt: the failing pass and the module before it are saved: tir-opt {{.*}}r.mlir

// FILE: // tir-opt reproducer
// FILE-NEXT: // pipeline: builtin.module(tir-split{loop=i_0 factors=2,1},canonicalize)
// FILE: tir.loop = "i_0"

// AGAIN: r.mlir:{{[0-9]+}}:{{[0-9]+}}: error: split(loop=i_0
// OTHER: T.parallel(4)
// TEMPORARY: are saved: tir-opt {{.*}}/tir-opt-{{.*}}.mlir




func.func @main(%A: memref<16xf32> {tir.name = "A"}) {
  %c = arith.constant 1.0 : f32
  affine.for %i = 0 to 16 {
    affine.parallel (%v) = (%i) to (%i + 1) {
      affine.store %c, %A[%v] : memref<16xf32>
    } {tir.block = "A", tir.iters = ["S"], tir.min = affine_map<() -> (0)>, tir.extent = affine_map<() -> (16)>}
  } {tir.loop = "i"}
  return
}
