// RUN: tir-opt %s -p tir-lower-keep-rolled | FileCheck %s

// The maximum of a row, taken again for each %j: kept a loop.
// CHECK-LABEL: func.func @again
// CHECK: scf.for
// CHECK: scf.for
// CHECK: } {llvm.loop_annotation = #{{[a-z_0-9]+}}}
// CHECK-NEXT: }
func.func @again(%A: memref<24xf32>, %X: memref<f32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c24 = arith.constant 24 : index
  scf.for %j = %c0 to %c24 step %c1 {
    scf.for %k = %c0 to %c24 step %c1 {
      %x = memref.load %X[] : memref<f32>
      %a = memref.load %A[%k] : memref<24xf32>
      %c = arith.cmpf oge, %x, %a : f32
      %m = arith.select %c, %x, %a : f32
      memref.store %m, %X[] : memref<f32>
    }
  }
  return
}

// The same under a condition in a parallel loop.
// CHECK-LABEL: func.func @parallel
// CHECK: scf.parallel
// CHECK: scf.for
// CHECK: } {llvm.loop_annotation = #{{[a-z_0-9]+}}}
func.func @parallel(%A: memref<24xf32>, %X: memref<f32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c24 = arith.constant 24 : index
  scf.parallel (%j) = (%c0) to (%c24) step (%c1) {
    %first = arith.cmpi slt, %j, %c1 : index
    scf.if %first {
      scf.for %k = %c0 to %c24 step %c1 {
        %x = memref.load %X[] : memref<f32>
        %a = memref.load %A[%k] : memref<24xf32>
        %c = arith.cmpf oge, %x, %a : f32
        %m = arith.select %c, %x, %a : f32
        memref.store %m, %X[] : memref<f32>
      }
    }
    scf.reduce
  }
  return
}

// Few iterations; another row for each %j, which LLVM makes lanes of; a sum, which uses what it adds to once.
// CHECK-LABEL: func.func @others
// CHECK-NOT: llvm.loop_annotation
func.func @others(%A: memref<24x24xf32>, %X: memref<24xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c24 = arith.constant 24 : index
  scf.for %j = %c0 to %c24 step %c1 {
    scf.for %k = %c0 to %c4 step %c1 {
      %x = memref.load %X[%c0] : memref<24xf32>
      %y = arith.mulf %x, %x : f32
      memref.store %y, %X[%c0] : memref<24xf32>
    }
    scf.for %k = %c0 to %c24 step %c1 {
      %x = memref.load %X[%j] : memref<24xf32>
      %a = memref.load %A[%j, %k] : memref<24x24xf32>
      %c = arith.cmpf oge, %x, %a : f32
      %m = arith.select %c, %x, %a : f32
      memref.store %m, %X[%j] : memref<24xf32>
    }
    scf.for %k = %c0 to %c24 step %c1 {
      %x = memref.load %X[%c0] : memref<24xf32>
      %a = memref.load %A[%k, %k] : memref<24x24xf32>
      %s = arith.addf %x, %a : f32
      memref.store %s, %X[%c0] : memref<24xf32>
    }
  }
  return
}
