// RUN: tir-opt --tir-lower-gpu-reductions %s | FileCheck %s

// A partial sum a thread over the whole of k; then a loop over the threads that carries the sum, and one thread stores.

// CHECK-LABEL: func.func @sum
// CHECK:         affine.for %[[I:.*]] = 0 to 64 {
// CHECK:           %[[P:.*]] = memref.alloc() {{.*}}tir.name = "B_partial"} : memref<32xf32, "local">
// CHECK:           affine.for %[[T:.*]] = 0 to 32 {
// CHECK-NEXT:        %[[ZERO:.*]] = arith.constant -0.0
// CHECK-NEXT:        affine.store %[[ZERO]], %[[P]][%[[T]]]
// CHECK:           affine.for %[[K:.*]] = 0 to 8 {
// CHECK-NEXT:        affine.for %[[T2:.*]] = 0 to 32 {
// CHECK-NEXT:          affine.if
// CHECK-NEXT:            %[[OLD:.*]] = affine.load %[[P]][%[[T2]]]
// CHECK-NEXT:            affine.load %{{.*}}[%[[I]], %[[K]] * 32 + %[[T2]]]
// CHECK-NEXT:            arith.addf %[[OLD]]
// CHECK-NEXT:            affine.store %{{.*}}, %[[P]][%[[T2]]]
// CHECK:           %[[S:.*]] = affine.for %{{.*}} = 0 to 32 iter_args
// CHECK:             tir.kind = "threadIdx.x"
// CHECK-NEXT:      affine.for %{{.*}} = 0 to 1 {
// CHECK:             %[[R:.*]] = arith.addf %{{.*}}, %[[S]]
// CHECK-NEXT:        affine.store %[[R]], %{{.*}}[%[[I]]]
// CHECK-NEXT:      } {{.*}}tir.kind = "threadIdx.x"
func.func @sum(%A: memref<64x250xf32> {tir.name = "A"}, %B: memref<64xf32> {tir.name = "B"})
    attributes {tir.id = 0 : i64} {
  affine.for %i = 0 to 64 {
    affine.for %k = 0 to 8 {
      affine.for %t = 0 to 32 {
        affine.if affine_set<(d0, d1) : (249 - d0 * 32 - d1 >= 0)>(%k, %t) {
          affine.if affine_set<(d0, d1) : (d0 * 32 + d1 == 0)>(%k, %t) {
            %zero = arith.constant 0.0 : f32
            affine.store %zero, %B[%i] : memref<64xf32>
          }
          %b = affine.load %B[%i] : memref<64xf32>
          %a = affine.load %A[%i, %k * 32 + %t] : memref<64x250xf32>
          %s = arith.addf %b, %a fastmath<reassoc> : f32
          affine.store %s, %B[%i] : memref<64xf32>
        }
      } {tir.loop = "t", tir.kind = "threadIdx.x"}
    } {tir.loop = "k"}
  } {tir.loop = "i", tir.kind = "blockIdx.x"}
  return
}

// Each thread computes the same sum for itself: no sum over threads.

// CHECK-LABEL: func.func @own
// CHECK-NOT:     iter_args
func.func @own(%A: memref<8xf32> {tir.name = "A"}, %B: memref<32xf32> {tir.name = "B"}) attributes {tir.id = 1 : i64} {
  %L = memref.alloc() {tir.name = "L"} : memref<1xf32, "local">
  affine.for %t = 0 to 32 {
    %zero = arith.constant 0.0 : f32
    affine.store %zero, %L[0] : memref<1xf32, "local">
    affine.for %k = 0 to 8 {
      %l = affine.load %L[0] : memref<1xf32, "local">
      %a = affine.load %A[%k] : memref<8xf32>
      %s = arith.addf %l, %a fastmath<reassoc> : f32
      affine.store %s, %L[0] : memref<1xf32, "local">
    } {tir.loop = "k"}
    %r = affine.load %L[0] : memref<1xf32, "local">
    affine.store %r, %B[%t] : memref<32xf32>
  } {tir.loop = "t", tir.kind = "threadIdx.x"}
  return
}

// An argmax: two partial results a thread, which start from the constants of the init; one loop carries both.

// CHECK-LABEL: func.func @argmax
// CHECK:         %[[P:.*]] = memref.alloc() {{.*}}tir.name = "I_partial"} : memref<32xi32, "local">
// CHECK:         %[[Q:.*]] = memref.alloc() {{.*}}tir.name = "V_partial"} : memref<32xf32, "local">
// CHECK:         affine.store %c-1_i32{{.*}}, %[[P]]
// CHECK-NEXT:    affine.store %cst{{.*}}, %[[Q]]
// CHECK:         %[[S:.*]]:2 = affine.for %{{.*}} = 0 to 32 iter_args(%[[I:.*]] = %{{.*}}, %[[V:.*]] = %{{.*}}) -> (i32, f32)
// CHECK:           arith.cmpf oge, %[[V]]
// CHECK:           arith.select %{{.*}}, %[[I]]
// CHECK:           affine.yield %{{.*}}, %{{.*}} : i32, f32
// CHECK:         affine.for %{{.*}} = 0 to 1 {
// CHECK-NEXT:      affine.store %[[S]]#0
// CHECK-NEXT:      affine.store %[[S]]#1

// It keeps the first of equal elements. If each thread takes every 32nd one, each round of 32 is combined, in order.

// CHECK-LABEL: func.func @rounds
// CHECK:         affine.for %{{.*}} = 0 to 8 {
// CHECK:           %[[S:.*]]:2 = affine.for %{{.*}} = 0 to 32 iter_args
// CHECK:           affine.for %{{.*}} = 0 to 1 {
// CHECK-NEXT:        %[[OLD:.*]] = affine.load %{{.*}}[0] : memref<1xi32>
// CHECK-NEXT:        affine.load
// CHECK-NEXT:        arith.cmpf oge
// CHECK-NEXT:        arith.select %{{.*}}, %[[OLD]], %[[S]]#0
func.func @argmax(%A: memref<256xf32> {tir.name = "A"}, %I: memref<1xi32> {tir.name = "I"},
                  %V: memref<1xf32> {tir.name = "V"}) attributes {tir.id = 2 : i64} {
  affine.for %t = 0 to 32 {
    affine.for %k = 0 to 8 {
      affine.if affine_set<(d0, d1) : (d0 * 8 + d1 == 0)>(%t, %k) {
        %none = arith.constant -1 : i32
        %least = arith.constant 0xFF800000 : f32
        affine.store %none, %I[0] : memref<1xi32>
        affine.store %least, %V[0] : memref<1xf32>
      }
      %i = affine.load %I[0] : memref<1xi32>
      %v = affine.load %V[0] : memref<1xf32>
      %a = affine.load %A[%t * 8 + %k] : memref<256xf32>
      %n = affine.apply affine_map<(d0, d1) -> (d0 * 8 + d1)>(%t, %k)
      %c = arith.index_cast %n : index to i32
      %keep = arith.cmpf oge, %v, %a : f32
      %j = arith.select %keep, %i, %c : i32
      %w = arith.select %keep, %v, %a : f32
      affine.store %j, %I[0] : memref<1xi32>
      affine.store %w, %V[0] : memref<1xf32>
    } {tir.loop = "k"}
  } {tir.loop = "t", tir.kind = "threadIdx.x"}
  return
}

func.func @rounds(%A: memref<256xf32> {tir.name = "A"}, %I: memref<1xi32> {tir.name = "I"},
                  %V: memref<1xf32> {tir.name = "V"}) attributes {tir.id = 3 : i64} {
  affine.for %k = 0 to 8 {
    affine.for %t = 0 to 32 {
      affine.if affine_set<(d0, d1) : (d0 * 32 + d1 == 0)>(%k, %t) {
        %none = arith.constant -1 : i32
        %least = arith.constant 0xFF800000 : f32
        affine.store %none, %I[0] : memref<1xi32>
        affine.store %least, %V[0] : memref<1xf32>
      }
      %i = affine.load %I[0] : memref<1xi32>
      %v = affine.load %V[0] : memref<1xf32>
      %a = affine.load %A[%k * 32 + %t] : memref<256xf32>
      %n = affine.apply affine_map<(d0, d1) -> (d0 * 32 + d1)>(%k, %t)
      %c = arith.index_cast %n : index to i32
      %keep = arith.cmpf oge, %v, %a : f32
      %j = arith.select %keep, %i, %c : i32
      %w = arith.select %keep, %v, %a : f32
      affine.store %j, %I[0] : memref<1xi32>
      affine.store %w, %V[0] : memref<1xf32>
    } {tir.loop = "t", tir.kind = "threadIdx.x"}
  } {tir.loop = "k"}
  return
}
