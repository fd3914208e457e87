// Any upstream MLIR goes through, untouched by our attributes; passes we do not use ourselves run in an mlir-opt of their own.
// RUN: tir-opt %s --canonicalize --linalg-fold-unit-extent-dims | FileCheck %s --implicit-check-not=tir.
// RUN: tir-opt %s -p 'builtin.module(func.func(convert-linalg-to-affine-loops))' --isolated | FileCheck %s --check-prefix=LOOPS
// RUN: tir-opt %s --convert-linalg-to-affine-loops --affine-loop-unroll=unroll-factor=-1 --cse | FileCheck %s --check-prefix=LOOPS
// RUN: not tir-opt %s --test-nothing 2>&1 | FileCheck %s --check-prefix=UNKNOWN

// CHECK: module {
// CHECK: linalg.generic
// LOOPS: affine.load
// LOOPS-NOT: linalg.generic
// UNKNOWN: unknown pass test-nothing

func.func @add(%A: memref<4xf32>, %B: memref<4xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%A : memref<4xf32>) outs(%B : memref<4xf32>) {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  }
  return
}
