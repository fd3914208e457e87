// RUN: tir-opt %s -p tir-lower-bf16 | FileCheck %s

// Rounded and, for NaN, chosen in 32 bits.
// CHECK-LABEL: func.func @round
// CHECK-NOT: arith.truncf {{.*}} to vector<8xbf16>
// CHECK: arith.cmpf uno
// CHECK: arith.select {{.*}} : vector<8xi1>, vector<8xi32>
// CHECK: arith.trunci {{.*}} : vector<8xi32> to vector<8xi16>
// CHECK: arith.bitcast {{.*}} : vector<8xi16> to vector<8xbf16>
// CHECK: arith.truncf {{.*}} : f32 to f16
func.func @round(%x: vector<8xf32>, %s: f32) -> (vector<8xbf16>, f16) {
  %y = arith.truncf %x : vector<8xf32> to vector<8xbf16>
  %h = arith.truncf %s : f32 to f16
  return %y, %h : vector<8xbf16>, f16
}

// Rounded once, behind the maximum; a sum needs both.
// CHECK-LABEL: func.func @relu
// CHECK: arith.maximumf %arg0, %{{.*}} : vector<8xf32>
// CHECK: arith.trunci
// CHECK-NOT: arith.trunci
// CHECK-LABEL: func.func @sum
// CHECK-COUNT-2: arith.trunci
func.func @relu(%x: vector<8xf32>) -> vector<8xbf16> {
  %zero = arith.constant dense<0.0> : vector<8xbf16>
  %b = arith.truncf %x : vector<8xf32> to vector<8xbf16>
  %e = arith.extf %b : vector<8xbf16> to vector<8xf32>
  %z = arith.extf %zero : vector<8xbf16> to vector<8xf32>
  %m = arith.maximumf %e, %z : vector<8xf32>
  %y = arith.truncf %m : vector<8xf32> to vector<8xbf16>
  return %y : vector<8xbf16>
}
func.func @sum(%x: vector<8xf32>, %b: vector<8xbf16>) -> vector<8xbf16> {
  %r = arith.truncf %x : vector<8xf32> to vector<8xbf16>
  %e = arith.extf %r : vector<8xbf16> to vector<8xf32>
  %z = arith.extf %b : vector<8xbf16> to vector<8xf32>
  %s = arith.addf %e, %z : vector<8xf32>
  %y = arith.truncf %s : vector<8xf32> to vector<8xbf16>
  return %y : vector<8xbf16>
}
