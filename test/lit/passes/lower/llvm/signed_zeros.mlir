// RUN: tir-opt %s -p tir-lower-signed-zeros | FileCheck %s

// CHECK-LABEL: llvm.func @hidden
// CHECK: %[[Z:.*]] = llvm.call_intrinsic "llvm.arithmetic.fence"(%{{.*}}) : (f32) -> f32
// CHECK: llvm.fcmp "olt" %{{.*}}, %[[Z]] : f32
// CHECK: %[[V:.*]] = llvm.call_intrinsic "llvm.arithmetic.fence"(%{{.*}}) : (vector<4xf32>) -> vector<4xf32>
// CHECK: llvm.fcmp "ugt" %[[V]], %{{.*}} : vector<4xf32>
llvm.func @hidden(%x: f32, %v: vector<4xf32>) -> f64 {
  %zero = llvm.mlir.constant(0.0 : f32) : f32
  %zeros = llvm.mlir.constant(dense<-0.0> : vector<4xf32>) : vector<4xf32>
  %c = llvm.fcmp "olt" %x, %zero : f32
  %d = llvm.fcmp "ugt" %zeros, %v : vector<4xf32>
  %wide = llvm.fpext %x : f32 to f64
  llvm.return %wide : f64
}

// Comparisons that LLVM leaves alone: for equality, with other numbers, of types that are not converted.
// CHECK-LABEL: llvm.func @seen
// CHECK-NOT: fence
llvm.func @seen(%x: f32, %y: f64, %z: f32) {
  %zero = llvm.mlir.constant(0.0 : f32) : f32
  %one = llvm.mlir.constant(1.0 : f32) : f32
  %zero64 = llvm.mlir.constant(0.0 : f64) : f64
  %c = llvm.fcmp "oeq" %x, %zero : f32
  %d = llvm.fcmp "olt" %x, %one : f32
  %e = llvm.fcmp "olt" %x, %z : f32
  %f = llvm.fcmp "olt" %y, %zero64 : f64
  llvm.return
}

// In kernels all types, and integers that were converted.
// CHECK-LABEL: gpu.module @kernels
// CHECK: %[[K:.*]] = llvm.call_intrinsic "llvm.arithmetic.fence"(%{{.*}}) : (f64) -> f64
// CHECK: llvm.fcmp "ole" %{{.*}}, %[[K]] : f64
// CHECK: %[[W:.*]] = llvm.call_intrinsic "llvm.arithmetic.fence"(%{{.*}}) : (f64) -> f64
// CHECK: llvm.fcmp "olt" %{{.*}}, %[[W]] : f64
gpu.module @kernels {
  llvm.func @kernel(%y: f64, %n: i32) {
    %zero = llvm.mlir.constant(0.0 : f64) : f64
    %whole = llvm.sitofp %n : i32 to f64
    %c = llvm.fcmp "ole" %y, %zero : f64
    %d = llvm.fcmp "olt" %y, %whole : f64
    llvm.return
  }
}
