// RUN: tir-opt %s --split-input-file -p tir-lower-math-polynomials | FileCheck %s

// The nearest multiple of ln 2, a polynomial, a power of two in two steps: no call, no conversion of a NaN. Less than -176
// is -176, where both steps are 0: no product underflows.
// CHECK-LABEL: func.func @exp
// CHECK-NOT: math.exp
// CHECK: arith.constant dense<-1.760000e+02> : vector<8xf32>
// CHECK: arith.mulf {{.*}} fastmath<contract> : vector<8xf32>
// CHECK-NOT: arith.fptosi
// CHECK-COUNT-2: arith.shli {{.*}} : vector<8xi32>
// CHECK: return
func.func @exp(%x: vector<8xf32>) -> vector<8xf32> {
  %y = math.exp %x : vector<8xf32>
  return %y : vector<8xf32>
}

// -----

// A scalar goes the same way.
// CHECK-LABEL: func.func @scalar
// CHECK-NOT: math.tanh
// CHECK: arith.select {{.*}} : f32
// CHECK: math.copysign {{.*}} : f32
func.func @scalar(%x: f32) -> f32 {
  %y = math.tanh %x : f32
  return %y : f32
}

// -----

// log1p adds what 1 + x is rounded by: float64 calls the logarithm, float32 has a polynomial.
// CHECK-LABEL: func.func @log1p
// CHECK: %[[U:.*]] = arith.addf %arg0, %{{.*}} fastmath<contract> : f64
// CHECK: %[[BACK:.*]] = arith.subf %[[U]], %{{.*}} fastmath<contract> : f64
// CHECK: %[[ROUNDED:.*]] = arith.subf %arg0, %[[BACK]] fastmath<contract> : f64
// CHECK: math.log %[[U]] : f64
// CHECK: arith.divf %[[ROUNDED]], %[[U]] : f64
// CHECK-NOT: math.log
// CHECK: return
func.func @log1p(%x: f64, %v: vector<4xf32>) -> (f64, vector<4xf32>) {
  %y = math.log1p %x : f64
  %s = math.log1p %v : vector<4xf32>
  return %y, %s : f64, vector<4xf32>
}

// -----

// The sine of a large number takes more steps, behind a branch, and of a very large one the C library.
// CHECK-LABEL: func.func @sine
// CHECK: %[[LARGE:.*]] = vector.reduction <or>
// CHECK: scf.if %[[LARGE]]
// CHECK: %[[VERY:.*]] = vector.reduction <or>
// CHECK: scf.if %[[VERY]]
// CHECK: math.sin
// CHECK: else
// CHECK-NOT: math.sin
func.func @sine(%v: vector<4xf32>) -> vector<4xf32> {
  %s = math.sin %v : vector<4xf32>
  return %s : vector<4xf32>
}

// -----

// What has no polynomial here is left to the C library.
// CHECK-LABEL: func.func @left
// CHECK: math.log {{.*}} : f64
// CHECK: math.sin {{.*}} : vector<4xf32>
func.func @left(%x: f64, %v: vector<4xf32>) -> (f64, vector<4xf32>) {
  %y = math.log %x : f64
  %s = math.sin %v : vector<4xf32>
  return %y, %s : f64, vector<4xf32>
}
