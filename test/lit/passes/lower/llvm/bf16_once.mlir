// RUN: tir-opt %s -p tir-lower-bf16-once | FileCheck %s

// By way of f64, which holds every i32, and of an f32 rounded to odd.
// CHECK-LABEL: func.func @of_i32
// CHECK: %[[D:.*]] = arith.sitofp %{{.*}} : i32 to f64
// CHECK: %[[S:.*]] = arith.truncf %[[D]] : f64 to f32
// CHECK: arith.extf %[[S]] : f32 to f64
// CHECK: %[[ODD:.*]] = arith.bitcast %{{.*}} : i32 to f32
// CHECK: arith.truncf %[[ODD]] : f32 to bf16
func.func @of_i32(%x: i32) -> bf16 {
  %y = arith.sitofp %x : i32 to bf16
  return %y : bf16
}

// The bits that an f64 does not hold become one.
// CHECK-LABEL: func.func @of_u64
// CHECK: arith.andi %{{.*}}, %{{.*}} : vector<4xi64>
// CHECK: arith.select {{.*}} : vector<4xi1>, vector<4xi64>
// CHECK: arith.uitofp %{{.*}} : vector<4xi64> to vector<4xf64>
// CHECK: arith.truncf %{{.*}} : vector<4xf32> to vector<4xbf16>
func.func @of_u64(%x: vector<4xi64>) -> vector<4xbf16> {
  %y = arith.uitofp %x : vector<4xi64> to vector<4xbf16>
  return %y : vector<4xbf16>
}

// An f32 holds these.
// CHECK-LABEL: func.func @narrow
// CHECK: arith.sitofp %{{.*}} : i16 to bf16
// CHECK: arith.truncf %{{.*}} : f32 to bf16
// CHECK: arith.truncf %{{.*}} : f64 to f16
func.func @narrow(%x: i16, %s: f32, %d: f64) -> (bf16, bf16, f16) {
  %y = arith.sitofp %x : i16 to bf16
  %z = arith.truncf %s : f32 to bf16
  %h = arith.truncf %d : f64 to f16
  return %y, %z, %h : bf16, bf16, f16
}
