// RUN: tir-opt %s -p 'tir-lower-gpu-tensor-maps' | FileCheck %s

// CHECK: llvm.mlir.global {{.*}}@__dynamic_shmem__0() {{.*}}alignment = 1024
// CHECK: llvm.func @f_kernel(%arg0: !llvm.ptr<1> {llvm.align = 16 : i64}, %arg1: !llvm.ptr {llvm.align = 64 : i64, llvm.byval = !llvm.array<128 x i8>, nvvm.grid_constant})
module attributes {gpu.container_module} {
  gpu.module @f_kernels attributes {tir.dynamic_alignment = 1024 : i64, tir.tensor_maps = {f_kernel = [1]}} {
    llvm.mlir.global internal @__dynamic_shmem__0() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<0 x i8>
    llvm.func @f_kernel(%arg0: !llvm.ptr<1> {llvm.align = 16 : i64}, %arg1: !llvm.ptr) attributes {gpu.kernel, nvvm.kernel} {
      llvm.return
    }
  }
}
