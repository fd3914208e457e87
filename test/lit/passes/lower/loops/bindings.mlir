// RUN: tir-opt %s -p tir-lower-bindings | FileCheck %s

// A search becomes the value that it finds.
// CHECK-LABEL: func.func @found
// CHECK-NOT: scf.for
// CHECK: %[[LOW:.*]] = arith.cmpi sle, %c0, %[[X:.*]] : index
// CHECK: %[[HIGH:.*]] = arith.cmpi slt, %[[X]], %c16 : index
// CHECK: %[[IN:.*]] = arith.andi %[[LOW]], %[[HIGH]]
// CHECK: scf.if %[[IN]] {
// CHECK-NEXT: memref.store %{{.*}}, %{{.*}}[%[[X]]]
func.func @found(%A: memref<16xf32>, %x: index, %v: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  scf.for %i = %c0 to %c16 step %c1 {
    %same = arith.cmpi eq, %i, %x : index
    scf.if %same {
      memref.store %v, %A[%i] : memref<16xf32>
    }
  }
  return
}

// Another step may pass over the value; other conditions and an else branch are no search.
// CHECK-LABEL: func.func @kept
// CHECK-COUNT-3: scf.for
func.func @kept(%A: memref<16xf32>, %x: index, %v: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c16 = arith.constant 16 : index
  scf.for %i = %c0 to %c16 step %c2 {
    %same = arith.cmpi eq, %i, %x : index
    scf.if %same {
      memref.store %v, %A[%i] : memref<16xf32>
    }
  }
  scf.for %i = %c0 to %c16 step %c1 {
    %less = arith.cmpi slt, %i, %x : index
    scf.if %less {
      memref.store %v, %A[%i] : memref<16xf32>
    }
  }
  scf.for %i = %c0 to %c16 step %c1 {
    %same = arith.cmpi eq, %i, %x : index
    scf.if %same {
      memref.store %v, %A[%i] : memref<16xf32>
    } else {
      memref.store %v, %A[%c0] : memref<16xf32>
    }
  }
  return
}
