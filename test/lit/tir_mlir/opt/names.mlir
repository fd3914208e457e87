// Loops and blocks by name: alone, by the block under them, by id; what is not clear is said.
// RUN: tir-opt %s -p 'tir-parallel{loop=C:i}, tir-unroll{loop=#3}, tir-annotate{block_or_loop=D key=k value=[1,2]}' --emit=script | FileCheck %s
// RUN: tir-opt %s -p 'tir-parallel{loop=i func=other}' --emit=script | FileCheck %s --check-prefix=FUNC
// RUN: tir-opt %s -p 'tir-annotate{block=C key=k value="a b"}' --emit=script | FileCheck %s --check-prefix=TEXT
// RUN: not tir-opt %s -p 'tir-parallel{loop=i}' --reproducer=%t 2>&1 | FileCheck %s --check-prefix=TWO
// RUN: not tir-opt %s -p 'tir-parallel{loop=C:j}' --reproducer=%t 2>&1 | FileCheck %s --check-prefix=ABOVE
// RUN: not tir-opt %s -p 'tir-parallel{loop=X:i}' --reproducer=%t 2>&1 | FileCheck %s --check-prefix=BLOCK
// RUN: not tir-opt %s -p 'tir-parallel{loop=C}' --reproducer=%t 2>&1 | FileCheck %s --check-prefix=KIND
// RUN: not tir-opt %s -p 'tir-parallel{loop=#99}' --reproducer=%t 2>&1 | FileCheck %s --check-prefix=ID
// RUN: not tir-opt %s -p 'tir-parallel{loop=i func=nowhere}' --reproducer=%t 2>&1 | FileCheck %s --check-prefix=NOFUNC

// CHECK: for i in T.parallel(8):
// CHECK-NEXT: with T.block("C"):
// CHECK: for i in T.unroll(8):
// CHECK-NEXT: with T.block("D"):
// CHECK: T.block_attr({"k": [1, 2]})
// FUNC: def main
// FUNC-NOT: T.parallel
// FUNC: def other
// FUNC: T.parallel
// TEXT: T.block_attr({"k": "a b"})
// TWO: error: tir-parallel: i is ambiguous: C:i (#1), D:i (#3)
// ABOVE: error: tir-parallel: no loop j above block "C" (loops there: i)
// BLOCK: error: tir-parallel: no block X in main (blocks there: C, D)
// KIND: error: tir-parallel: no loop C in main (loops there: i)
// ID: error: tir-parallel: no loop #99 in main
// NOFUNC: error: tir-parallel: the module has no function nowhere; did you mean other? (it has main, other)

func.func @main(%C: memref<8xf32> {tir.name = "C"}, %D: memref<8xf32> {tir.name = "D"}) attributes {tir.id = 0 : i64} {
  %c = arith.constant 1.0 : f32
  affine.for %i = 0 to 8 {
    affine.parallel (%v) = (%i) to (%i + 1) {
      affine.store %c, %C[%v] : memref<8xf32>
    } {tir.block = "C", tir.id = 2 : i64, tir.iters = ["S"], tir.min = affine_map<() -> (0)>, tir.extent = affine_map<() -> (8)>}
  } {tir.loop = "i", tir.id = 1 : i64}
  affine.for %i = 0 to 8 {
    affine.parallel (%v) = (%i) to (%i + 1) {
      affine.store %c, %D[%v] : memref<8xf32>
    } {tir.block = "D", tir.id = 4 : i64, tir.iters = ["S"], tir.min = affine_map<() -> (0)>, tir.extent = affine_map<() -> (8)>}
  } {tir.loop = "i", tir.id = 3 : i64}
  return
}

func.func @other(%C: memref<8xf32> {tir.name = "C"}) attributes {tir.id = 5 : i64} {
  %c = arith.constant 1.0 : f32
  affine.for %i = 0 to 8 {
    affine.parallel (%v) = (%i) to (%i + 1) {
      affine.store %c, %C[%v] : memref<8xf32>
    } {tir.block = "C", tir.id = 7 : i64, tir.iters = ["S"], tir.min = affine_map<() -> (0)>, tir.extent = affine_map<() -> (8)>}
  } {tir.loop = "i", tir.id = 6 : i64}
  return
}
