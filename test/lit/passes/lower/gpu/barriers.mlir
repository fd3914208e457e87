// RUN: tir-opt --tir-lower-gpu-barriers --split-input-file %s | FileCheck %s

// One barrier for the value that another thread reads, one before the next iteration overwrites it; none for a buffer
// that each thread has for itself, and none for elements that only one thread touches.

// CHECK-LABEL: func.func @mirror
// CHECK:         affine.for %{{.*}} = 0 to 8 {
// CHECK-NOT:       gpu.barrier
// CHECK:           affine.store %{{.*}} "shared"
// CHECK-NEXT:      gpu.barrier
// CHECK-NEXT:      affine.load %{{.*}} "shared"
// CHECK:           affine.store %{{.*}}[%{{.*}}, %{{.*}}] : memref<8x64xf32>
// CHECK-NEXT:      gpu.barrier
// CHECK-NEXT:    }
// CHECK-NOT:     gpu.barrier
func.func @mirror(%A: memref<8x64xf32> {tir.name = "A"}, %B: memref<8x64xf32> {tir.name = "B"})
    attributes {tir.id = 0 : i64} {
  affine.for %t = 0 to 64 {
    %S = memref.alloc() {tir.name = "S"} : memref<64xf32, "shared">
    %L = memref.alloc() {tir.name = "L"} : memref<1xf32, "local">
    affine.for %k = 0 to 8 {
      %a = affine.load %A[%k, %t] : memref<8x64xf32>
      affine.store %a, %L[0] : memref<1xf32, "local">
      %l = affine.load %L[0] : memref<1xf32, "local">
      affine.store %l, %S[%t] : memref<64xf32, "shared">
      %s = affine.load %S[63 - %t] : memref<64xf32, "shared">
      affine.store %s, %B[%k, %t] : memref<8x64xf32>
    } {tir.loop = "k"}
  } {tir.loop = "t", tir.kind = "threadIdx.x"}
  return
}

// -----

// Half of the threads fill, all read: the barrier is outside of the guard.

// CHECK-LABEL: func.func @half
// CHECK:         affine.if
// CHECK:         }
// CHECK-NEXT:    gpu.barrier
// CHECK-NEXT:    affine.load %{{.*}} "shared"
func.func @half(%A: memref<64xf32> {tir.name = "A"}, %B: memref<64xf32> {tir.name = "B"})
    attributes {tir.id = 0 : i64} {
  affine.for %t = 0 to 64 {
    %S = memref.alloc() {tir.name = "S"} : memref<32xf32, "shared">
    affine.if affine_set<(d0) : (31 - d0 >= 0)>(%t) {
      %a = affine.load %A[%t] : memref<64xf32>
      affine.store %a, %S[%t] : memref<32xf32, "shared">
    }
    %s = affine.load %S[%t mod 32] : memref<32xf32, "shared">
    affine.store %s, %B[%t] : memref<64xf32>
  } {tir.loop = "t", tir.kind = "threadIdx.x"}
  return
}

// -----

// Barriers have to be in a loop in a guard: the guard goes into the loop, and is split there.

// CHECK-LABEL: func.func @guard
// CHECK:         affine.for %{{.*}} = 0 to 8 {
// CHECK-NEXT:      affine.if
// CHECK:             affine.store %{{.*}} "shared"
// CHECK-NEXT:      }
// CHECK-NEXT:      gpu.barrier
// CHECK-NEXT:      affine.if
// CHECK-NEXT:        arith.constant 2.0
// CHECK-NEXT:        affine.load %{{.*}} "shared"
// CHECK:           }
// CHECK-NEXT:      gpu.barrier
func.func @guard(%A: memref<8x48xf32> {tir.name = "A"}, %B: memref<8x48xf32> {tir.name = "B"}) attributes {tir.id = 0 : i64} {
  affine.for %t = 0 to 64 {
    %S = memref.alloc() {tir.name = "S"} : memref<48xf32, "shared">
    affine.if affine_set<(d0) : (47 - d0 >= 0)>(%t) {
      affine.for %k = 0 to 8 {
        %two = arith.constant 2.0 : f32
        %a = affine.load %A[%k, %t] : memref<8x48xf32>
        affine.store %a, %S[%t] : memref<48xf32, "shared">
        %s = affine.load %S[47 - %t] : memref<48xf32, "shared">
        %d = arith.mulf %s, %two : f32
        affine.store %d, %B[%k, %t] : memref<8x48xf32>
      } {tir.loop = "k"}
    }
  } {tir.loop = "t", tir.kind = "threadIdx.x"}
  return
}

// -----

// Each row of threads runs the loop a different number of times: now as often as the last row, under a condition.

// CHECK: #[[$RUNS:.*]] = affine_set<(d0, d1) : (d0 >= 0, d1 - d0 + 2 >= 0)>
// CHECK-LABEL: func.func @bounds
// CHECK:         affine.for %[[Y:.*]] = 0 to 4 {
// CHECK:         affine.for %[[K:.*]] = 0 to 6 {
// CHECK-NEXT:      affine.if #[[$RUNS]](%[[K]], %[[Y]]) {
// CHECK:             affine.store %{{.*}} "shared"
// CHECK:           gpu.barrier
// CHECK-NEXT:      affine.if #[[$RUNS]](%[[K]], %[[Y]]) {
// CHECK:           gpu.barrier
func.func @bounds(%A: memref<8x64xf32> {tir.name = "A"}, %B: memref<8x64xf32> {tir.name = "B"}) attributes {tir.id = 0 : i64} {
  affine.for %y = 0 to 4 {
  affine.for %t = 0 to 16 {
    %S = memref.alloc() {tir.name = "S"} : memref<4x16xf32, "shared">
      affine.for %k = 0 to affine_map<(d0) -> (d0 + 3)>(%y) {
        %a = affine.load %A[%k, %y * 16 + %t] : memref<8x64xf32>
        affine.store %a, %S[%y, %t] : memref<4x16xf32, "shared">
        %s = affine.load %S[%y, 15 - %t] : memref<4x16xf32, "shared">
        affine.store %s, %B[%k, %y * 16 + %t] : memref<8x64xf32>
      } {tir.loop = "k"}
  } {tir.loop = "t", tir.kind = "threadIdx.x"}
  } {tir.loop = "y", tir.kind = "threadIdx.y"}
  return
}
