// RUN: tir-opt %s --tir-lower-expanded | FileCheck %s
// RUN: tir-opt %s --tir-lower-to-llvm | FileCheck %s --check-prefix=LLVM

// One dimension becomes two of unknown size: strides are products of sizes.
// CHECK-LABEL: func.func @several
// CHECK-SAME: %[[X:.*]]: memref<?x4xf32>, %[[N:.*]]: index, %[[M:.*]]: index
// CHECK: %[[BASE:.*]], %[[OFFSET:.*]], %{{.*}}:2, %[[STRIDES:.*]]:2 = memref.extract_strided_metadata %[[X]]
// CHECK: %[[OUTER:.*]] = arith.muli %[[STRIDES]]#0, %[[M]] : index
// CHECK: memref.reinterpret_cast %[[BASE]] to offset: [%[[OFFSET]]], sizes: [%[[N]], %[[M]], %{{.*}}], strides: [%[[OUTER]], %[[STRIDES]]#0, %[[STRIDES]]#1]
// CHECK: memref.cast %{{.*}} to memref<?x?x4xf32>
// CHECK-NOT: expand_shape
// LLVM-NOT: memref.
func.func @several(%x: memref<?x4xf32>, %n: index, %m: index) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %v = memref.expand_shape %x [[0, 1], [2]] output_shape [%n, %m, 4] : memref<?x4xf32> into memref<?x?x4xf32>
  memref.store %zero, %v[%c0, %c0, %c0] : memref<?x?x4xf32>
  return
}

// One unknown size is left to upstream.
// CHECK-LABEL: func.func @one
// CHECK: memref.expand_shape
func.func @one(%x: memref<?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %v = memref.expand_shape %x [[0, 1]] output_shape [%n, 4] : memref<?xf32> into memref<?x4xf32>
  memref.store %zero, %v[%c0, %c0] : memref<?x4xf32>
  return
}
