// RUN: tir-opt %s --split-input-file --verify-diagnostics --mlir-print-local-scope -p 'tir-split{loop=i factors=4,none}' | FileCheck %s
// RUN: tir-opt %S/../Inputs/split_refused.py --split-input-file --verify-diagnostics -p 'tir-split{loop=i factors=4,none}'
// RUN: not tir-opt %s --split-input-file -p 'tir-split{loop=i factors=4,8}' 2>&1 | FileCheck %s --check-prefix=LESS
// RUN: not tir-opt %s --split-input-file -p 'tir-split{loop=i factors=none,none}' 2>&1 | FileCheck %s --check-prefix=NONES
// RUN: not tir-opt %s --split-input-file -p 'tir-split{loop=i factors=4,0}' 2>&1 | FileCheck %s --check-prefix=ZERO
// RUN: not tir-opt %s --split-input-file -p 'tir-split{loop=i factors=[]}' 2>&1 | FileCheck %s --check-prefix=EMPTY
// RUN: not tir-opt %s --split-input-file -p 'tir-split{loop=i factors=4294967296,4294967296}' 2>&1 | FileCheck %s --check-prefix=LARGE
// RUN: not tir-opt %s --split-input-file -p 'tir-split{loop=i factors=4,none disable_predication=true}' 2>&1 | FileCheck %s --check-prefix=GUARD
// RUN: tir-opt %S/../Inputs/split_guarded.py --emit=script -p 'tir-split{loop=i factors=none,4 disable_predication=true}' | FileCheck %S/../Inputs/split_guarded.py
// RUN: not tir-opt %S/../Inputs/split_refused.py --split-input-file -p 'tir-split{loop=i factors=4,8}' 2>&1 | FileCheck %s --check-prefix=REACH

// LESS: error: {{.*}}the factors [4, 8] multiply to 32, less than the extent 128 of loop i; iterations would be lost
// NONES: error: {{.*}}split can infer one factor; 2 of [None, None] are None
// ZERO: error: {{.*}}the factor 0 is not positive; use None to infer a factor
// EMPTY: error: {{.*}}split needs at least one factor
// LARGE: error: {{.*}}multiply to 18446744073709551616, which does not fit an index (64 bits)
// GUARD: error: {{.*}}the factors [4, None] do not divide the extent of loop i, so a guard is needed; drop disable_predication
// REACH: error: {{.*}}loop i has a symbolic extent that 32 iterations may not cover
// CHECK-LABEL: func.func @exact
func.func @exact(%A: memref<128xf32> {tir.name = "A"}) attributes {tir.id = 0 : i64} {
  %c = arith.constant 1.0 : f32
  // CHECK: affine.for %[[O:.*]] = 0 to 4
  // CHECK-NEXT: affine.for %[[I:.*]] = 0 to 32
  // CHECK-NOT: affine.if
  // CHECK: affine.parallel (%{{.*}}) = (%[[O]] * 32 + %[[I]])
  affine.for %i = 0 to 128 {
    affine.parallel (%v) = (%i) to (%i + 1) {
      affine.store %c, %A[%v] : memref<128xf32>
    } {tir.block = "A", tir.id = 2 : i64, tir.iters = ["S"], tir.names = ["v"],
       tir.min = affine_map<() -> (0)>, tir.extent = affine_map<() -> (128)>, tir.syms = []}
  } {tir.loop = "i", tir.id = 1 : i64}
  // CHECK: tir.loop = "i_1"
  // CHECK: tir.loop = "i_0"
  return
}

// -----

// The binding gets the start of the loop.
// CHECK-LABEL: func.func @start
func.func @start(%A: memref<128xf32> {tir.name = "A"}) attributes {tir.id = 0 : i64} {
  %c = arith.constant 1.0 : f32
  // CHECK: affine.for %[[O:.*]] = 0 to 4
  // CHECK-NEXT: affine.for %[[I:.*]] = 0 to 30
  // CHECK-NOT: affine.if
  // CHECK: affine.parallel (%{{.*}}) = (%[[O]] * 30 + %[[I]] + 8)
  affine.for %i = 8 to 128 {
    affine.parallel (%v) = (%i) to (%i + 1) {
      affine.store %c, %A[%v] : memref<128xf32>
    } {tir.block = "A", tir.id = 2 : i64, tir.iters = ["S"], tir.names = ["v"],
       tir.min = affine_map<() -> (8)>, tir.extent = affine_map<() -> (120)>, tir.syms = []}
  } {tir.loop = "i", tir.id = 1 : i64}
  return
}

// -----

// The bound of the loop beneath is folded: (i_0 * 32 + i_1) floordiv 32 is i_0.
// CHECK-LABEL: func.func @bounds
func.func @bounds(%A: memref<128x4xf32> {tir.name = "A"}) attributes {tir.id = 0 : i64} {
  %c = arith.constant 1.0 : f32
  // CHECK: affine.for %[[O:.*]] = 0 to 4
  // CHECK: affine.for %{{.*}} = 0 to affine_map<(d0) -> (d0)>(%[[O]])
  affine.for %i = 0 to 128 {
    affine.for %k = 0 to affine_map<(d0) -> (d0 floordiv 32)>(%i) {
      affine.parallel (%v, %w) = (%i, %k) to (%i + 1, %k + 1) {
        affine.store %c, %A[%v, %w] : memref<128x4xf32>
      } {tir.block = "A", tir.id = 3 : i64, tir.iters = ["O", "O"], tir.names = ["v", "w"],
         tir.min = affine_map<() -> (0, 0)>, tir.extent = affine_map<() -> (128, 4)>, tir.syms = []}
    } {tir.loop = "k", tir.id = 2 : i64}
  } {tir.loop = "i", tir.id = 1 : i64}
  return
}

// -----

// 4 * 32 is more than 127: the block gets a guard.
// CHECK-LABEL: func.func @guarded
func.func @guarded(%A: memref<127xf32> {tir.name = "A"}) attributes {tir.id = 0 : i64} {
  %c = arith.constant 1.0 : f32
  // CHECK: affine.for %[[O:.*]] = 0 to 4
  // CHECK-NEXT: affine.for %[[I:.*]] = 0 to 32
  // CHECK-NEXT: affine.if affine_set<{{.*}}(%[[O]], %[[I]])
  // CHECK-NEXT: affine.parallel
  // CHECK: } {tir.where}
  affine.for %i = 0 to 127 {
    affine.parallel (%v) = (%i) to (%i + 1) {
      affine.store %c, %A[%v] : memref<127xf32>
    } {tir.block = "A", tir.id = 2 : i64, tir.iters = ["S"], tir.names = ["v"],
       tir.min = affine_map<() -> (0)>, tir.extent = affine_map<() -> (127)>, tir.syms = []}
  } {tir.loop = "i", tir.id = 1 : i64}
  return
}

// -----

func.func @bound(%A: memref<128xf32> {tir.name = "A"}) attributes {tir.id = 0 : i64} {
  %c = arith.constant 1.0 : f32
  // expected-error @below {{loop i is bound to threadIdx.x}}
  affine.for %i = 0 to 128 {
    affine.parallel (%v) = (%i) to (%i + 1) {
      affine.store %c, %A[%v] : memref<128xf32>
    } {tir.block = "A", tir.id = 2 : i64, tir.iters = ["S"], tir.names = ["v"],
       tir.min = affine_map<() -> (0)>, tir.extent = affine_map<() -> (128)>, tir.syms = []}
  } {tir.loop = "i", tir.kind = "threadIdx.x", tir.id = 1 : i64}
  return
}

// -----

// expected-error @below {{i is ambiguous: A:i (#1), B:i (#3)}}
func.func @twice(%A: memref<128xf32> {tir.name = "A"}) attributes {tir.id = 0 : i64} {
  %c = arith.constant 1.0 : f32
  affine.for %i = 0 to 128 {
    affine.parallel (%v) = (%i) to (%i + 1) {
      affine.store %c, %A[%v] : memref<128xf32>
    } {tir.block = "A", tir.id = 2 : i64, tir.iters = ["S"], tir.names = ["v"],
       tir.min = affine_map<() -> (0)>, tir.extent = affine_map<() -> (128)>, tir.syms = []}
  } {tir.loop = "i", tir.id = 1 : i64}
  affine.for %i = 0 to 128 {
    affine.parallel (%v) = (%i) to (%i + 1) {
      affine.store %c, %A[%v] : memref<128xf32>
    } {tir.block = "B", tir.id = 4 : i64, tir.iters = ["S"], tir.names = ["v"],
       tir.min = affine_map<() -> (0)>, tir.extent = affine_map<() -> (128)>, tir.syms = []}
  } {tir.loop = "i", tir.id = 3 : i64}
  return
}
