// RUN: tir-opt %s -p 'tir-lower-gpu-approximations' | FileCheck %s

// The exponential function is a power of two of a product, the logarithm a product of a binary one.
// CHECK-LABEL: func.func @functions
func.func @functions(%x: f32) -> (f32, f32, f32, f32) {
  // CHECK: %[[C:.*]] = arith.constant 1.44269502 : f32
  // CHECK: %[[Y:.*]] = arith.mulf %arg0, %[[C]]
  // CHECK: llvm.call_intrinsic "llvm.nvvm.ex2.approx"(%[[Y]]) : (f32) -> f32
  %0 = math.exp %x fastmath<afn> : f32
  // CHECK: llvm.call_intrinsic "llvm.nvvm.ex2.approx"(%arg0)
  %1 = math.exp2 %x fastmath<afn> : f32
  // CHECK: %[[L:.*]] = llvm.call_intrinsic "llvm.nvvm.lg2.approx.f"(%arg0)
  // CHECK: arith.mulf %[[L]]
  %2 = math.log %x fastmath<afn> : f32
  // CHECK: llvm.call_intrinsic "llvm.nvvm.lg2.approx.f"(%arg0)
  %3 = math.log2 %x fastmath<afn> : f32
  return %0, %1, %2, %3 : f32, f32, f32, f32
}

// Without the mark, and in other types, a function remains.
// CHECK-LABEL: func.func @others
func.func @others(%x: f32, %y: f64) -> (f32, f64, f32) {
  // CHECK: math.exp %arg0 : f32
  %0 = math.exp %x : f32
  // CHECK: math.exp %arg1 fastmath<afn> : f64
  %1 = math.exp %y fastmath<afn> : f64
  // CHECK: math.erf %arg0 fastmath<afn> : f32
  %2 = math.erf %x fastmath<afn> : f32
  return %0, %1, %2 : f32, f64, f32
}
