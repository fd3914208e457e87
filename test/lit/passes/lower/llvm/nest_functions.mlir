// RUN: tir-opt %s --split-input-file -p tir-lower-nest-functions | FileCheck %s

// 25 nests: each becomes a function of the buffers that it uses, and equal ones share it.
// CHECK: func.func private @main.nest0(%arg0: memref<4xf32>, %arg1: memref<4xf32>)
// CHECK: affine.for %{{.*}} = 0 to 4
// CHECK-NOT: func.func
// CHECK: func.func private @main.nest1(%arg0: memref<4xf32>, %arg1: memref<4xf32>)
// CHECK: affine.for %{{.*}} = 0 to 3
// CHECK-NOT: func.func
// CHECK: func.func @main(%[[A:arg[0-9]+]]: memref<4xf32> {{.*}}, %[[B:arg[0-9]+]]: memref<4xf32> {{.*}}, %
// CHECK-NOT: affine.for
// CHECK: call @main.nest0(%[[A]], %[[B]])
// CHECK-NEXT: call @main.nest0(%[[B]], %[[A]])
// CHECK-NEXT: call @main.nest1(%[[A]], %[[B]])
// CHECK-COUNT-22: call @main.nest0(%[[A]], %[[B]])
// CHECK-NOT: affine.for
// CHECK: return
func.func @main(%A: memref<4xf32>, %B: memref<4xf32>, %unused: memref<4xf32>) attributes {tir.id = 0 : i64} {
  affine.for %i = 0 to 4 {
    %x = affine.load %A[%i] : memref<4xf32>
    affine.store %x, %B[%i] : memref<4xf32>
  } {tir.id = 1 : i64, tir.loop = "i"}
  affine.for %j = 0 to 4 {
    %x = affine.load %B[%j] : memref<4xf32>
    affine.store %x, %A[%j] : memref<4xf32>
  } {tir.id = 2 : i64, tir.loop = "j"}
  affine.for %i = 0 to 3 {
    %x = affine.load %A[%i] : memref<4xf32>
    affine.store %x, %B[%i] : memref<4xf32>
  }
  affine.for %i = 0 to 4 {
    %x = affine.load %A[%i] : memref<4xf32>
    affine.store %x, %B[%i] : memref<4xf32>
  }
  affine.for %i = 0 to 4 {
    %x = affine.load %A[%i] : memref<4xf32>
    affine.store %x, %B[%i] : memref<4xf32>
  }
  affine.for %i = 0 to 4 {
    %x = affine.load %A[%i] : memref<4xf32>
    affine.store %x, %B[%i] : memref<4xf32>
  }
  affine.for %i = 0 to 4 {
    %x = affine.load %A[%i] : memref<4xf32>
    affine.store %x, %B[%i] : memref<4xf32>
  }
  affine.for %i = 0 to 4 {
    %x = affine.load %A[%i] : memref<4xf32>
    affine.store %x, %B[%i] : memref<4xf32>
  }
  affine.for %i = 0 to 4 {
    %x = affine.load %A[%i] : memref<4xf32>
    affine.store %x, %B[%i] : memref<4xf32>
  }
  affine.for %i = 0 to 4 {
    %x = affine.load %A[%i] : memref<4xf32>
    affine.store %x, %B[%i] : memref<4xf32>
  }
  affine.for %i = 0 to 4 {
    %x = affine.load %A[%i] : memref<4xf32>
    affine.store %x, %B[%i] : memref<4xf32>
  }
  affine.for %i = 0 to 4 {
    %x = affine.load %A[%i] : memref<4xf32>
    affine.store %x, %B[%i] : memref<4xf32>
  }
  affine.for %i = 0 to 4 {
    %x = affine.load %A[%i] : memref<4xf32>
    affine.store %x, %B[%i] : memref<4xf32>
  }
  affine.for %i = 0 to 4 {
    %x = affine.load %A[%i] : memref<4xf32>
    affine.store %x, %B[%i] : memref<4xf32>
  }
  affine.for %i = 0 to 4 {
    %x = affine.load %A[%i] : memref<4xf32>
    affine.store %x, %B[%i] : memref<4xf32>
  }
  affine.for %i = 0 to 4 {
    %x = affine.load %A[%i] : memref<4xf32>
    affine.store %x, %B[%i] : memref<4xf32>
  }
  affine.for %i = 0 to 4 {
    %x = affine.load %A[%i] : memref<4xf32>
    affine.store %x, %B[%i] : memref<4xf32>
  }
  affine.for %i = 0 to 4 {
    %x = affine.load %A[%i] : memref<4xf32>
    affine.store %x, %B[%i] : memref<4xf32>
  }
  affine.for %i = 0 to 4 {
    %x = affine.load %A[%i] : memref<4xf32>
    affine.store %x, %B[%i] : memref<4xf32>
  }
  affine.for %i = 0 to 4 {
    %x = affine.load %A[%i] : memref<4xf32>
    affine.store %x, %B[%i] : memref<4xf32>
  }
  affine.for %i = 0 to 4 {
    %x = affine.load %A[%i] : memref<4xf32>
    affine.store %x, %B[%i] : memref<4xf32>
  }
  affine.for %i = 0 to 4 {
    %x = affine.load %A[%i] : memref<4xf32>
    affine.store %x, %B[%i] : memref<4xf32>
  }
  affine.for %i = 0 to 4 {
    %x = affine.load %A[%i] : memref<4xf32>
    affine.store %x, %B[%i] : memref<4xf32>
  }
  affine.for %i = 0 to 4 {
    %x = affine.load %A[%i] : memref<4xf32>
    affine.store %x, %B[%i] : memref<4xf32>
  }
  affine.for %i = 0 to 4 {
    %x = affine.load %A[%i] : memref<4xf32>
    affine.store %x, %B[%i] : memref<4xf32>
  }
  return
}

// -----

// A small function stays as it is.
// CHECK-LABEL: func.func @small
// CHECK: affine.for
func.func @small(%A: memref<4xf32>, %B: memref<4xf32>) attributes {tir.id = 0 : i64} {
  affine.for %i = 0 to 4 {
    %x = affine.load %A[%i] : memref<4xf32>
    affine.store %x, %B[%i] : memref<4xf32>
  }
  return
}
