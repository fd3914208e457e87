// The names of lowering passes of the release before are taken, with a remark.
// RUN: tir-opt %s -p 'tir-lower-vectorized,tir-lower-unrolled' 2>&1 | FileCheck %s
// RUN: tir-opt --list-passes | FileCheck %s --check-prefix=LIST
// RUN: not tir-opt %s -p tir-lower-vectorised 2>&1 | FileCheck %s --check-prefix=NEAR

// CHECK: tir-opt: remark: tir-lower-vectorized is called tir-lower-vectorize now; the old name goes with the next release
// CHECK: tir-opt: remark: tir-lower-unrolled is called tir-lower-unroll now
// CHECK: func.func @main
// LIST-NOT: tir-lower-vectorized
// LIST: tir-lower-vectorize{{ }}
// LIST-NOT: tir-lower-vectorized
// NEAR: unknown pass tir-lower-vectorised; did you mean tir-lower-vectorize?
func.func @main(%A: memref<4xf32> {tir.name = "A"}) attributes {tir.id = 0 : i64} {
  return
}
