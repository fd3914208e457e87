// Passes as flags run in the order of the command line and mix with pipelines; names resolve after each step.
// RUN: tir-opt %s --tir-split="loop=i factors=4,none" -p 'builtin.module(tir-parallel{loop=i_0})' --tir-unroll=loop=i_1 \
// RUN:   --emit=script | FileCheck %s
// RUN: tir-opt %s -p 'tir-split{loop=i factors=[4, none]}, tir-parallel{loop=i_0}' -p 'tir-unroll{loop=i_1}' \
// RUN:   --emit=script | FileCheck %s
// RUN: not tir-opt %s --tir-parallel=loop=i_0 --tir-split="loop=i factors=4,none" --reproducer=%t 2>&1 | FileCheck %s --check-prefix=ORDER
// RUN: not tir-opt %s --no-such-flag 2>&1 | FileCheck %s --check-prefix=FLAG
// RUN: not tir-opt %s --emit=html 2>&1 | FileCheck %s --check-prefix=EMIT

// CHECK: for i_0 in T.parallel(4):
// CHECK-NEXT: for i_1 in T.unroll(4):

// ORDER: flags.mlir:{{[0-9]+}}:1: error: tir-parallel: no loop i_0 in main (loops there: i)
// FLAG: --no-such-flag:1:1: error: unknown pass no-such-flag
// EMIT: tir-opt: error: argument --emit: invalid choice: 'html'

func.func @main(%A: memref<16xf32> {tir.name = "A"}) {
  %c = arith.constant 1.0 : f32
  affine.for %i = 0 to 16 {
    affine.parallel (%v) = (%i) to (%i + 1) {
      affine.store %c, %A[%v] : memref<16xf32>
    } {tir.block = "A", tir.iters = ["S"], tir.min = affine_map<() -> (0)>, tir.extent = affine_map<() -> (16)>}
  } {tir.loop = "i"}
  return
}
