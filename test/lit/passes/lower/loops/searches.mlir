// RUN: tir-opt %s -p tir-lower-searches | FileCheck %s

// The value is known outside the loop over %d: the search for it moves there.
// CHECK-LABEL: func.func @moved
// CHECK: scf.for %[[K:.*]] =
// CHECK: %[[X:.*]] = arith.addi %[[K]], %{{.*}} : index
// CHECK-NEXT: affine.for %[[B:.*]] = 0 to 16 {
// CHECK-NEXT: %[[SAME:.*]] = arith.cmpi eq, %[[B]], %[[X]] : index
// CHECK-NEXT: scf.if %[[SAME]] {
// CHECK-NEXT: affine.for %[[D:.*]] = 0 to 8 {
// CHECK-NEXT: affine.store %{{.*}}, %{{.*}}[%[[B]], %[[D]]]
func.func @moved(%A: memref<16x8xf32>, %n: index, %v: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %k = %c0 to %n step %c1 {
    affine.for %d = 0 to 8 {
      %x = arith.addi %k, %c1 : index
      affine.for %b = 0 to 16 {
        %same = arith.cmpi eq, %b, %x : index
        scf.if %same {
          affine.store %v, %A[%b, %d] : memref<16x8xf32>
        }
      } {tir.bind}
    } {tir.kind = "vectorized"}
  }
  return
}

// The value depends on the loop, is loaded or divided in it, or the loop holds more: the search stays.
// CHECK-LABEL: func.func @kept
// CHECK-COUNT-4: affine.for %{{.*}} = 0 to 8
// CHECK-NOT: affine.for %{{.*}} = 0 to 8
func.func @kept(%A: memref<16x8xf32>, %I: memref<index>, %n: index, %v: f32) {
  affine.for %d = 0 to 8 {
    %x = arith.addi %d, %n : index
    // CHECK: affine.for %{{.*}} = 0 to 16
    affine.for %b = 0 to 16 {
      %same = arith.cmpi eq, %b, %x : index
      scf.if %same {
        affine.store %v, %A[%b, %d] : memref<16x8xf32>
      }
    } {tir.bind}
  }
  affine.for %d = 0 to 8 {
    %x = affine.load %I[] : memref<index>
    affine.for %b = 0 to 16 {
      %same = arith.cmpi eq, %b, %x : index
      scf.if %same {
        affine.store %v, %A[%b, %d] : memref<16x8xf32>
      }
    } {tir.bind}
  }
  affine.for %d = 0 to 8 {
    %x = arith.divsi %n, %n : index
    affine.for %b = 0 to 16 {
      %same = arith.cmpi eq, %b, %x : index
      scf.if %same {
        affine.store %v, %A[%b, %d] : memref<16x8xf32>
      }
    } {tir.bind}
  }
  affine.for %d = 0 to 8 {
    affine.for %b = 0 to 16 {
      %same = arith.cmpi eq, %b, %n : index
      scf.if %same {
        affine.store %v, %A[%b, %d] : memref<16x8xf32>
      }
    } {tir.bind}
    affine.store %v, %A[0, %d] : memref<16x8xf32>
  }
  return
}
