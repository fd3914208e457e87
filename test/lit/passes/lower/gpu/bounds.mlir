// RUN: tir-opt %s -p 'tir-lower-gpu-bounds' | FileCheck %s

// No thread is subtracted in a condition; a comparison of the program stays.
// CHECK-LABEL: gpu.func @f
// CHECK: arith.cmpi sge
// CHECK: %[[EIGHT:.*]] = arith.muli %block_id_x, %c8 : index
// CHECK: %[[SUM:.*]] = arith.addi %[[EIGHT]], %thread_id_x : index
// CHECK: %[[END:.*]] = arith.addi %[[SUM]], %{{.*}} : index
// CHECK: arith.cmpi sle, %[[END]], %{{.*}} : index
gpu.module @kernels {
  gpu.func @f(%A: memref<1000xf32>, %v: f32, %n: index, %i: memref<i1>) kernel {
    %b = gpu.block_id x
    %t = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %own = arith.cmpi sge, %n, %c0 : index
    memref.store %own, %i[] : memref<i1>
    affine.if affine_set<(d0, d1)[s0] : (s0 - d0 * 8 - d1 - 1 >= 0, d0 >= 0)>(%b, %t)[%n] {
      affine.store %v, %A[%t] : memref<1000xf32>
    }
    gpu.return
  }
}
