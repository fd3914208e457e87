// RUN: tir-opt %s -p 'tir-lower-gpu-shared-names' | FileCheck %s

// Shared memory has the name of the buffer, unless that may be an instruction of PTX or is taken.
// CHECK: llvm.mlir.global private @A_shared()
// CHECK: llvm.mlir.global private @max_shared()
// CHECK: llvm.mlir.global private @A_shared_1()
// CHECK: llvm.mlir.global private @other()
// CHECK: llvm.mlir.addressof @A_shared_1
gpu.module @kernels attributes {tir.shared_names = {__wg_f_0 = "A_shared", __wg_f_1 = "max", __wg_g_0 = "A.shared"}} {
  llvm.mlir.global private @__wg_f_0() {addr_space = 3 : i32} : !llvm.array<4 x f32>
  llvm.mlir.global private @__wg_f_1() {addr_space = 3 : i32} : !llvm.array<4 x f32>
  llvm.mlir.global private @__wg_g_0() {addr_space = 3 : i32} : !llvm.array<4 x f32>
  llvm.mlir.global private @other() {addr_space = 3 : i32} : !llvm.array<4 x f32>
  llvm.func @g() {
    %0 = llvm.mlir.addressof @__wg_g_0 : !llvm.ptr<3>
    llvm.return
  }
}
