// RUN: tir-opt %s -p tir-lower-addresses | FileCheck %s

// What a row has in common is computed in the loop over rows; the constant is a step from the first element.
// CHECK-LABEL: func.func @rows
// CHECK: %[[A:.*]] = llvm.extractvalue
// CHECK: affine.for %[[I:.*]] = 0 to 8
// CHECK: %[[ROW:.*]] = llvm.mul %{{.*}}, %{{.*}} overflow<nsw, nuw> : i64
// CHECK: affine.for
// CHECK: %[[AT:.*]] = llvm.add %[[ROW]], %{{.*}} overflow<nsw, nuw> : i64
// CHECK: %[[P:.*]] = llvm.getelementptr inbounds|nuw %[[A]][%[[AT]]] : (!llvm.ptr, i64) -> !llvm.ptr, f32
// CHECK: %[[X:.*]] = llvm.load %[[P]] : !llvm.ptr -> f32
// CHECK: %[[Q:.*]] = llvm.getelementptr inbounds|nuw %[[P]][1] : (!llvm.ptr) -> !llvm.ptr, f32
// CHECK: llvm.store %[[X]], %[[Q]] : f32, !llvm.ptr
func.func @rows(%A: memref<8x16xf32>) {
  affine.for %i = 0 to 8 {
    affine.for %j = 0 to 15 {
      %x = affine.load %A[%i, %j] : memref<8x16xf32>
      affine.store %x, %A[%i, %j + 1] : memref<8x16xf32>
    }
  }
  return
}

// A variable may be negative: the first element may be outside of the buffer, so its address is not computed.
// CHECK-LABEL: func.func @from_below
// CHECK: affine.for
// CHECK: %[[AT:.*]] = llvm.add %{{.*}}, %{{.*}} overflow<nsw> : i64
// CHECK: llvm.getelementptr inbounds|nuw %{{.*}}[%[[AT]]]
// CHECK-NOT: llvm.getelementptr
func.func @from_below(%A: memref<16xf32>, %x: f32) {
  affine.for %i = -1 to 15 {
    affine.store %x, %A[%i + 1] : memref<16xf32>
  }
  return
}

// Vectors are aligned as their elements; a quotient is computed where its operand is known.
// CHECK-LABEL: func.func @vectors
// CHECK: affine.for %[[I:.*]] = 0 to 64
// CHECK: %[[HALF:.*]] = affine.apply #{{.*}}(%[[I]])
// CHECK: affine.for
// CHECK-NOT: affine.apply
// CHECK: llvm.load %{{.*}} {alignment = 2 : i64} : !llvm.ptr -> vector<8xf16>
func.func @vectors(%A: memref<32x64xf16>, %B: memref<64xf16>) {
  affine.for %i = 0 to 64 {
    affine.for %j = 0 to 8 {
      %x = affine.vector_load %A[%i floordiv 2, %j * 8] : memref<32x64xf16>, vector<8xf16>
      affine.vector_store %x, %B[%j * 8] : memref<64xf16>, vector<8xf16>
    }
  }
  return
}

// Strides that are not constant, bits, and divisions by a size stay.
// CHECK-LABEL: func.func @others
// CHECK: affine.load
// CHECK: affine.load
// CHECK: affine.load
func.func @others(%A: memref<?x?xf32>, %B: memref<8xi1>, %C: memref<8xf32>, %n: index) -> (f32, i1, f32) {
  %0 = arith.constant 0 : index
  %a = affine.load %A[%0, symbol(%n)] : memref<?x?xf32>
  %b = affine.load %B[%0] : memref<8xi1>
  %c = affine.load %C[7 mod symbol(%n)] : memref<8xf32>
  return %a, %b, %c : f32, i1, f32
}
