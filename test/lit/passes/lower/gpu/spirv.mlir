// RUN: tir-opt %s -p 'tir-lower-gpu-spirv{warp=32}' --split-input-file --verify-diagnostics | FileCheck %s

// What is NVIDIA's becomes functions of SPIR-V, each declared once; a kernel has its block and its sub-group.
// CHECK-DAG: llvm.func spir_funccc @_Z32__spirv_BuiltInLocalInvocationIdj(i32) -> i64
// CHECK-DAG: llvm.func spir_funccc @_Z22__spirv_ControlBarrierjjj(i32, i32, i32)
// CHECK: llvm.func spir_kernelcc @f
// CHECK-SAME: intel_reqd_sub_group_size = 32 : i32, reqd_work_group_size = array<i32: 64, 1, 1>
// CHECK: llvm.alloca %{{.*}} x !llvm.array<8 x f32>
// CHECK: %[[ID:.*]] = llvm.call spir_funccc @_Z32__spirv_BuiltInLocalInvocationIdj(%{{.*}}) {{.*}} : (i32) -> i64
// CHECK: llvm.trunc %[[ID]] : i64 to i32
// CHECK: llvm.call spir_funccc @_Z26__spirv_BuiltInWorkgroupIdj
// CHECK: llvm.call spir_funccc @_Z22__spirv_ControlBarrierjjj
// CHECK: llvm.call spir_funccc @_Z33__spirv_GroupNonUniformShuffleXorjfj
// CHECK: llvm.fadd %{{.*}}, %{{.*}} : f32
// CHECK-NOT: nvvm
llvm.func @f(%x: f32, %p: !llvm.ptr<1>) attributes {gpu.kernel, nvvm.kernel, nvvm.maxntid = array<i32: 64, 1, 1>} {
  %all = llvm.mlir.constant(-1 : i32) : i32
  %two = llvm.mlir.constant(2 : i32) : i32
  %last = llvm.mlir.constant(31 : i32) : i32
  %c8 = llvm.mlir.constant(8 : i32) : i32
  %l = llvm.alloca %c8 x f32 : (i32) -> !llvm.ptr
  %t = nvvm.read.ptx.sreg.tid.x range <i32, 0, 64> : i32
  %b = nvvm.read.ptx.sreg.ctaid.y : i32
  nvvm.barrier0
  %s = nvvm.shfl.sync bfly %all, %x, %two, %last : f32 -> f32
  %y = llvm.fadd %s, %x {fastmathFlags = #llvm.fastmath<reassoc, contract>} : f32
  llvm.store %y, %p : f32, !llvm.ptr<1>
  llvm.return
}

// -----

llvm.func @g() attributes {nvvm.kernel, nvvm.maxntid = array<i32: 64, 1, 1>} {
  // expected-error@+1 {{SPIR-V has nothing for nvvm.read.ptx.sreg.clock; fix: build for CUDA}}
  %c = nvvm.read.ptx.sreg.clock : i32
  llvm.return
}
