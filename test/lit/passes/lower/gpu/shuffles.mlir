// RUN: tir-opt --tir-lower-gpu-shuffles %s | FileCheck %s
// RUN: tir-opt "--tir-lower-gpu-shuffles=warp=1" %s | FileCheck %s --check-prefix=TREE

// 64 threads: five shuffles in each warp, one value a warp in shared memory, one shuffle among these two.

// CHECK-LABEL: func.func @two_warps
// CHECK:         affine.for %[[T:.*]] = 0 to 64 {
// CHECK:           %[[S:.*]] = memref.alloc() {{.*}} : memref<2xf32, "shared">
// CHECK:           %[[V:.*]] = affine.load %{{.*}}[0] : memref<1xf32, "local">
// CHECK:           gpu.shuffle xor %[[V]]
// CHECK-COUNT-4:   gpu.shuffle xor
// CHECK-NOT:       gpu.shuffle
// CHECK:           affine.if #[[LANE0:.*]](%[[T]]) {
// CHECK-NEXT:        affine.store %{{.*}}, %[[S]][%[[T]] floordiv 32]
// CHECK-NEXT:      }
// CHECK-NEXT:      affine.load %[[S]][(%[[T]] floordiv 64) * 2 + %[[T]] mod 2]
// CHECK:           gpu.shuffle xor
// CHECK-NEXT:      arith.addf
// CHECK-NEXT:      affine.store

// Without shuffles: the upper half is added to the lower half, six times.

// TREE-LABEL: func.func @two_warps
// TREE:         %[[S:.*]] = memref.alloc() {{.*}} : memref<64xf32, "shared">
// TREE:         affine.store %{{.*}}, %[[S]][%[[T:.*]]]
// TREE-COUNT-6: affine.if
// TREE-NOT:     affine.if
// TREE:         affine.load %[[S]][0]
func.func @two_warps(%B: memref<64xf32> {tir.name = "B"}) attributes {tir.id = 0 : i64} {
  affine.for %t = 0 to 64 {
    %P = memref.alloc() {tir.name = "P"} : memref<64xf32, "local">
    %one = arith.constant 1.0 : f32
    affine.store %one, %P[%t] : memref<64xf32, "local">
    %zero = arith.constant -0.0 : f32
    %s = affine.for %u = 0 to 64 iter_args(%a = %zero) -> f32 {
      %p = affine.load %P[%t] : memref<64xf32, "local">
      %n = arith.addf %a, %p : f32
      affine.yield %n : f32
    } {tir.loop = "u", tir.kind = "threadIdx.x"}
    affine.store %s, %B[%t] : memref<64xf32>
  } {tir.loop = "t", tir.kind = "threadIdx.x"}
  return
}

// Twenty of 64 threads: the others contribute the identity.

// CHECK-LABEL: func.func @some
// CHECK:         affine.if #{{.*}}(%{{.*}}) -> i32 {
// CHECK:           affine.yield %{{.*}} : i32
// CHECK-NEXT:    } else {
// CHECK-NEXT:      %[[LEAST:.*]] = arith.constant -2147483648 : i32
// CHECK-NEXT:      affine.yield %[[LEAST]] : i32
// CHECK:         gpu.shuffle xor %{{.*}} : i32
// CHECK-NEXT:    arith.maxsi
func.func @some(%A: memref<20xi32> {tir.name = "A"}, %B: memref<64xi32> {tir.name = "B"}) attributes {tir.id = 0 : i64} {
  affine.for %t = 0 to 64 {
    %least = arith.constant -2147483648 : i32
    %s = affine.for %u = 0 to 20 iter_args(%a = %least) -> i32 {
      %p = affine.load %A[%u] : memref<20xi32>
      %n = arith.maxsi %a, %p : i32
      affine.yield %n : i32
    } {tir.loop = "u", tir.kind = "threadIdx.x"}
    affine.store %s, %B[%t] : memref<64xi32>
  } {tir.loop = "t", tir.kind = "threadIdx.x"}
  return
}

// Two buffers of which each thread has one element: their accesses are made anew between one another.

// CHECK-LABEL: func.func @two_private
// CHECK:         %[[P:.*]] = memref.alloc() {{.*}}tir.name = "P"} : memref<1xf32, "local">
// CHECK:         %[[Q:.*]] = memref.alloc() {{.*}}tir.name = "Q"} : memref<1xf32, "local">
// CHECK-NOT:     memref<32xf32, "local">
// CHECK:         affine.store %{{.*}}, %[[P]][0]
// CHECK:         affine.load %[[P]][0]
// CHECK:         affine.store %{{.*}}, %[[Q]][0]
// CHECK:         affine.load %[[P]][0]
// CHECK:         affine.load %[[Q]][0]
func.func @two_private(%A: memref<32xf32> {tir.name = "A"}, %B: memref<32xf32> {tir.name = "B"}) attributes {tir.id = 0 : i64} {
  affine.for %t = 0 to 32 {
    %P = memref.alloc() {tir.name = "P"} : memref<32xf32, "local">
    %Q = memref.alloc() {tir.name = "Q"} : memref<32xf32, "local">
    %a = affine.load %A[%t] : memref<32xf32>
    affine.store %a, %P[%t] : memref<32xf32, "local">
    %p = affine.load %P[%t] : memref<32xf32, "local">
    affine.store %p, %Q[%t] : memref<32xf32, "local">
    %again = affine.load %P[%t] : memref<32xf32, "local">
    %q = affine.load %Q[%t] : memref<32xf32, "local">
    %sum = arith.addf %again, %q : f32
    affine.store %sum, %B[%t] : memref<32xf32>
  } {tir.loop = "t", tir.kind = "threadIdx.x"}
  return
}

// An argmax that keeps the first of equal elements: neighbours first, the lower thread on the left.

// CHECK-LABEL: func.func @first
// CHECK:         %[[ONE:.*]] = arith.constant 1 : i32
// CHECK:         gpu.shuffle xor %{{.*}}, %[[ONE]]
// CHECK:         gpu.shuffle xor {{.*}} : f32
// CHECK:         %[[LOWER:.*]] = arith.cmpi eq
// CHECK:         arith.select %[[LOWER]]
// CHECK:         arith.cmpf oge
// CHECK-COUNT-8: gpu.shuffle xor
// CHECK-NOT:     gpu.shuffle

// TREE-LABEL: func.func @first
// TREE:         affine.if #[[EVEN:.*]](%{{.*}}) {
// TREE-COUNT-4: affine.if
func.func @first(%A: memref<32xf32> {tir.name = "A"}, %I: memref<32xi32> {tir.name = "I"})
    attributes {tir.id = 2 : i64} {
  affine.for %t = 0 to 32 {
    %none = arith.constant -1 : i32
    %least = arith.constant 0xFF800000 : f32
    %s:2 = affine.for %u = 0 to 32 iter_args(%i = %none, %v = %least) -> (i32, f32) {
      %a = affine.load %A[%u] : memref<32xf32>
      %c = arith.index_cast %u : index to i32
      %keep = arith.cmpf oge, %v, %a : f32
      %j = arith.select %keep, %i, %c : i32
      %w = arith.select %keep, %v, %a : f32
      affine.yield %j, %w : i32, f32
    } {tir.loop = "u", tir.kind = "threadIdx.x"}
    affine.store %s#0, %I[%t] : memref<32xi32>
  } {tir.loop = "t", tir.kind = "threadIdx.x"}
  return
}
