// RUN: tir-opt %s -p 'canonicalize,cse,tir-lower-masked-buffers' | FileCheck %s

// A partial tile of sums is in registers: no buffer is left.
// CHECK-LABEL: func.func @tile
// CHECK-SAME: %[[C:.*]]: memref<?x?xf32>, %[[N:.*]]: index
// CHECK: %[[ZEROS:.*]] = arith.constant dense<0.000000e+00>
// CHECK-NOT: memref.alloc
// CHECK: %[[MASK:.*]] = vector.create_mask %[[N]]
// CHECK-NEXT: %[[SUM:.*]]:2 = affine.for %{{.*}} iter_args(%{{.*}} = %[[ZEROS]], %{{.*}} = %[[ZEROS]])
// CHECK: vector.maskedstore %[[C]][%c0, %c0], %[[MASK]], %[[SUM]]#0
// CHECK-NEXT: vector.maskedstore %[[C]][%c1, %c0], %[[MASK]], %[[SUM]]#1
// CHECK-NEXT: return
func.func @tile(%C: memref<?x?xf32>, %n: index, %a: vector<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zeros = arith.constant dense<0.0> : vector<8xf32>
  %sums = memref.alloc() : memref<2x8xf32>
  %mask = vector.create_mask %n : vector<8xi1>
  vector.maskedstore %sums[%c0, %c0], %mask, %zeros : memref<2x8xf32>, vector<8xi1>, vector<8xf32>
  vector.maskedstore %sums[%c1, %c0], %mask, %zeros : memref<2x8xf32>, vector<8xi1>, vector<8xf32>
  %same = vector.create_mask %n : vector<8xi1>
  %s = vector.maskedload %sums[%c0, %c0], %same, %zeros : memref<2x8xf32>, vector<8xi1>, vector<8xf32> into vector<8xf32>
  %t = vector.maskedload %sums[%c1, %c0], %same, %zeros : memref<2x8xf32>, vector<8xi1>, vector<8xf32> into vector<8xf32>
  %r:2 = affine.for %k = 0 to 9 iter_args(%x = %s, %y = %t) -> (vector<8xf32>, vector<8xf32>) {
    %p = arith.addf %x, %a : vector<8xf32>
    %q = arith.subf %y, %a : vector<8xf32>
    affine.yield %p, %q : vector<8xf32>, vector<8xf32>
  }
  vector.maskedstore %sums[%c0, %c0], %same, %r#0 : memref<2x8xf32>, vector<8xi1>, vector<8xf32>
  vector.maskedstore %sums[%c1, %c0], %same, %r#1 : memref<2x8xf32>, vector<8xi1>, vector<8xf32>
  %u = vector.maskedload %sums[%c0, %c0], %mask, %zeros : memref<2x8xf32>, vector<8xi1>, vector<8xf32> into vector<8xf32>
  vector.maskedstore %C[%c0, %c0], %mask, %u : memref<?x?xf32>, vector<8xi1>, vector<8xf32>
  %v = vector.maskedload %sums[%c1, %c0], %mask, %zeros : memref<2x8xf32>, vector<8xi1>, vector<8xf32> into vector<8xf32>
  vector.maskedstore %C[%c1, %c0], %mask, %v : memref<?x?xf32>, vector<8xi1>, vector<8xf32>
  memref.dealloc %sums : memref<2x8xf32>
  return
}

// Other lanes of a value that is used without the mask are those of the load.
// CHECK-LABEL: func.func @other_lanes
// CHECK-NOT: memref.alloc
// CHECK: %[[ALL:.*]] = arith.select %{{.*}}, %arg1, %arg2
// CHECK: return %[[ALL]]
func.func @other_lanes(%n: index, %a: vector<8xf32>, %b: vector<8xf32>) -> vector<8xf32> {
  %c0 = arith.constant 0 : index
  %one = memref.alloc() : memref<8xf32>
  %mask = vector.create_mask %n : vector<8xi1>
  vector.maskedstore %one[%c0], %mask, %a : memref<8xf32>, vector<8xi1>, vector<8xf32>
  %s = vector.maskedload %one[%c0], %mask, %b : memref<8xf32>, vector<8xi1>, vector<8xf32> into vector<8xf32>
  return %s : vector<8xf32>
}

// With another mask, after a store at a row that may be the same, or before all stores, a load remains.
// CHECK-LABEL: func.func @kept
// CHECK-COUNT-3: memref.alloc
// CHECK-COUNT-3: vector.maskedload
func.func @kept(%n: index, %m: index, %i: index, %a: vector<8xf32>)
    -> (vector<8xf32>, vector<8xf32>, vector<8xf32>) {
  %c0 = arith.constant 0 : index
  %zeros = arith.constant dense<0.0> : vector<8xf32>
  %one = memref.alloc() : memref<8xf32>
  %two = memref.alloc() : memref<2x8xf32>
  %three = memref.alloc() : memref<8xf32>
  %mask = vector.create_mask %n : vector<8xi1>
  %other = vector.create_mask %m : vector<8xi1>
  vector.maskedstore %one[%c0], %mask, %a : memref<8xf32>, vector<8xi1>, vector<8xf32>
  %s = vector.maskedload %one[%c0], %other, %zeros : memref<8xf32>, vector<8xi1>, vector<8xf32> into vector<8xf32>
  vector.maskedstore %two[%c0, %c0], %mask, %a : memref<2x8xf32>, vector<8xi1>, vector<8xf32>
  vector.maskedstore %two[%i, %c0], %mask, %zeros : memref<2x8xf32>, vector<8xi1>, vector<8xf32>
  %t = vector.maskedload %two[%c0, %c0], %mask, %zeros : memref<2x8xf32>, vector<8xi1>, vector<8xf32> into vector<8xf32>
  %u = vector.maskedload %three[%c0], %mask, %zeros : memref<8xf32>, vector<8xi1>, vector<8xf32> into vector<8xf32>
  vector.maskedstore %three[%c0], %mask, %a : memref<8xf32>, vector<8xi1>, vector<8xf32>
  return %s, %t, %u : vector<8xf32>, vector<8xf32>, vector<8xf32>
}
