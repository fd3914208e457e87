// RUN: tir-opt %s -p tir-lower-allocs-thread-stack | FileCheck %s

// CHECK: omp.parallel {
// CHECK-NEXT: memref.alloca() : memref<16xf32>
// CHECK: omp.wsloop
// CHECK-NOT: memref.alloca()
// CHECK: return
func.func @main(%A: memref<16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  omp.parallel {
    omp.wsloop {
      omp.loop_nest (%i) : index = (%c0) to (%c8) step (%c1) {
        %s = memref.alloca() : memref<16xf32>
        memref.copy %A, %s : memref<16xf32> to memref<16xf32>
        omp.yield
      }
    }
    omp.terminator
  }
  return
}
