// RUN: tir-opt %s -p tir-lower-extrema | FileCheck %s

// One op that uses each operand once; vectors of half precision are as they were.
// CHECK-LABEL: func.func @extrema
// CHECK: llvm.intr.maximum(%arg0, %arg1) : (f32, f32) -> f32
// CHECK: llvm.intr.minimum(%arg2, %arg2) : (f64, f64) -> f64
// CHECK: llvm.intr.maximum({{.*}}) {fastmathFlags = #llvm.fastmath<nsz>} : (vector<8xf32>, vector<8xf32>)
// CHECK: arith.maximumf {{.*}} : vector<8xf16>
// CHECK: llvm.intr.minimum({{.*}} : (f16, f16) -> f16
func.func @extrema(%x: f32, %y: f32, %d: f64, %v: vector<8xf32>, %w: vector<8xf16>,
             %h: f16) -> (f32, f64, vector<8xf32>, vector<8xf16>, f16) {
  %a = arith.maximumf %x, %y : f32
  %b = arith.minimumf %d, %d : f64
  %c = arith.maximumf %v, %v : vector<8xf32>
  %d1 = arith.maximumf %w, %w : vector<8xf16>
  %e = arith.minimumf %h, %h : f16
  return %a, %b, %c, %d1, %e : f32, f64, vector<8xf32>, vector<8xf16>, f16
}

// What is known to be a number remains so.
// CHECK-LABEL: func.func @number
// CHECK: llvm.intr.maximum({{.*}}) {fastmathFlags = #llvm.fastmath<nnan, nsz>} : (vector<8xf32>, vector<8xf32>)
func.func @number(%v: vector<8xf32>) -> vector<8xf32> {
  %a = arith.maximumf %v, %v fastmath<nnan> : vector<8xf32>
  return %a : vector<8xf32>
}
