// RUN: tir-opt --tir-lower-gpu-math --split-input-file --verify-diagnostics %s | FileCheck %s

// Instructions by LLVM's intrinsics: upstream's conversion would call a library.
// CHECK-LABEL: func.func @instructions
// CHECK: %[[S:.*]] = llvm.call_intrinsic "llvm.sqrt"(%arg0) : (f32) -> f32
// CHECK: arith.divf %{{.*}}, %[[S]] : f32
// CHECK: llvm.call_intrinsic "llvm.fabs"(%arg0) : (f32) -> f32
func.func @instructions(%x: f32) -> (f32, f32) {
  %r = math.rsqrt %x : f32
  %a = math.absf %x : f32
  return %r, %a : f32, f32
}

// Others in float64, rounded once; integers stay for upstream.
// CHECK-LABEL: func.func @double
// CHECK: arith.extf %arg0 : f32 to f64
// CHECK-NOT: math.sin
// CHECK: arith.truncf %{{.*}} : f64 to f32
// CHECK: math.ctpop %arg1 : i32
func.func @double(%x: f32, %i: i32) -> (f32, i32) {
  %s = math.sin %x : f32
  %c = math.ctpop %i : i32
  return %s, %c : f32, i32
}

// -----

func.func @no_code(%x: f64) -> f64 {
  // expected-error @+1 {{pow of float64 has no code for a GPU; fix: write it with exp, log, sqrt and arithmetic, or compute it in float32}}
  %p = math.powf %x, %x : f64
  return %p : f64
}

// -----

// What is left of the dividend, until it is less than the divisor.
// CHECK-LABEL: func.func @remainder
// CHECK: %[[X:.*]] = arith.extf %{{.*}} : f32 to f64
// CHECK: %[[LEFT:.*]] = scf.while
// CHECK: scf.while
// CHECK: llvm.call_intrinsic "llvm.fma"
// CHECK: arith.truncf %{{.*}} : f64 to f32
func.func @remainder(%x: f32) -> f32 {
  %p = arith.remf %x, %x : f32
  return %p : f32
}
