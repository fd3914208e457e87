// RUN: tir-opt %s --split-input-file --mlir-print-local-scope --tir-lower-gpu-emulation | FileCheck %s

// The threads run in turn up to the barrier, then on. Each keeps its own value and buffer; what is cheap is computed
// again. The blocks are parallel.
// CHECK-LABEL: func.func @exchange
// CHECK: affine.for %[[B:.*]] = 0 to 4 {
// CHECK-DAG: %[[OWN:.*]] = memref.alloc() {{.*}}tir.name = "P"{{.*}} : memref<32x1xf32>
// CHECK-DAG: %[[KEPT:.*]] = memref.alloc() {{.*}}tir.name = "kept"{{.*}} : memref<32xf32>
// CHECK-DAG: %[[S:.*]] = memref.alloc() {{.*}} : memref<32xf32, "shared">
// CHECK: affine.for %[[T:.*]] = 0 to 32 {
// CHECK: %[[V:.*]] = affine.load
// CHECK-NEXT: affine.store %[[V]], %[[KEPT]][%[[T]]]
// CHECK: affine.store %[[V]], %[[OWN]][%[[T]], 0]
// CHECK: affine.store %[[V]], %[[S]][%[[T]]]
// CHECK-NOT: gpu.barrier
// CHECK: tir.loop = "t"
// CHECK-NEXT: affine.for %[[U:.*]] = 0 to 32 {
// CHECK-NEXT: %[[AGAIN:.*]] = affine.load %[[KEPT]][%[[U]]]
// CHECK-NEXT: affine.apply affine_map<(d0) -> (-d0 + 31)>(%[[U]])
// CHECK: affine.load %[[OWN]][%[[U]], 0]
// CHECK: } {tir.id = {{[0-9]+}} : i64, tir.kind = "parallel", tir.loop = "b"}
func.func @exchange(%A: memref<4x32xf32> {tir.name = "A"}, %B: memref<4x32xf32> {tir.name = "B"}) attributes {tir.id = 0 : i64} {
  affine.for %b = 0 to 4 {
    %S = memref.alloc() {tir.name = "S"} : memref<32xf32, "shared">
    affine.for %t = 0 to 32 {
      %P = memref.alloc() {tir.name = "P"} : memref<1xf32, "local">
      %v = affine.load %A[%b, %t] : memref<4x32xf32>
      %far = affine.apply affine_map<(d0) -> (-d0 + 31)>(%t)
      affine.store %v, %P[0] : memref<1xf32, "local">
      affine.store %v, %S[%t] : memref<32xf32, "shared">
      gpu.barrier
      %other = memref.load %S[%far] : memref<32xf32, "shared">
      %own = affine.load %P[0] : memref<1xf32, "local">
      %sum = arith.addf %other, %own : f32
      %more = arith.addf %sum, %v : f32
      affine.store %more, %B[%b, %t] : memref<4x32xf32>
    } {tir.id = 2 : i64, tir.loop = "t", tir.kind = "threadIdx.x"}
  } {tir.id = 1 : i64, tir.loop = "b", tir.kind = "blockIdx.x"}
  return
}

// -----

// A loop with a barrier goes around the threads.
// CHECK-LABEL: func.func @steps
// CHECK: affine.for %[[K:.*]] = 0 to 8 {
// CHECK-NEXT: affine.for %[[T:.*]] = 0 to 32 {
// CHECK-NEXT: affine.load %{{.*}}[%[[K]], %[[T]]]
// CHECK: tir.loop = "t"
// CHECK-NEXT: affine.for %{{.*}} = 0 to 32 {
// CHECK: tir.loop = "t"
// CHECK-NEXT: tir.loop = "k"
func.func @steps(%A: memref<8x32xf32> {tir.name = "A"}, %B: memref<8x32xf32> {tir.name = "B"}) attributes {tir.id = 0 : i64} {
  %S = memref.alloc() {tir.name = "S"} : memref<32xf32, "shared">
  affine.for %t = 0 to 32 {
    affine.for %k = 0 to 8 {
      %v = affine.load %A[%k, %t] : memref<8x32xf32>
      affine.store %v, %S[%t] : memref<32xf32, "shared">
      gpu.barrier
      %w = affine.load %S[-%t + 31] : memref<32xf32, "shared">
      affine.store %w, %B[%k, %t] : memref<8x32xf32>
      gpu.barrier
    } {tir.id = 2 : i64, tir.loop = "k"}
  } {tir.id = 1 : i64, tir.loop = "t", tir.kind = "threadIdx.x"}
  return
}

// -----

// A shuffle is a store, and a load of what another thread has stored.
// CHECK-LABEL: func.func @shuffled
// CHECK: %[[X:.*]] = memref.alloc() {{.*}}tir.name = "shuffled"{{.*}} : memref<32xf32, "shared">
// CHECK: affine.store %{{.*}}, %[[X]][%{{.*}}]
// CHECK: tir.loop = "t"
// CHECK-NEXT: affine.for %[[T:.*]] = 0 to 32 {
// CHECK-NOT: gpu.shuffle
// CHECK: affine.load %[[X]][%[[T]] - ((%[[T]] floordiv 16) mod 2) * 32 + 16]
func.func @shuffled(%A: memref<32xf32> {tir.name = "A"}, %B: memref<32xf32> {tir.name = "B"}) attributes {tir.id = 0 : i64} {
  affine.for %t = 0 to 32 {
    %v = affine.load %A[%t] : memref<32xf32>
    %offset = arith.constant 16 : i32
    %width = arith.constant 32 : i32
    %w, %valid = gpu.shuffle xor %v, %offset, %width : f32
    affine.store %w, %B[%t] : memref<32xf32>
  } {tir.id = 1 : i64, tir.loop = "t", tir.kind = "threadIdx.x"}
  return
}
