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
