// RUN: tir-opt %s -p math-extend-to-supported-types{target-type=f32},tir-lower-cast-rounding,canonicalize | FileCheck %s
// RUN: tir-opt %s -p math-extend-to-supported-types{target-type=f32},canonicalize | FileCheck %s --check-prefix=FOLDED

// Without the pass, a fold takes the rounding between the two functions away.
// FOLDED-LABEL: func.func @chain
// FOLDED: %[[F:.*]] = math.expm1 {{.*}} : f32
// FOLDED-NEXT: math.cos %[[F]]

// CHECK-LABEL: func.func @chain
// CHECK: %[[E:.*]] = math.expm1 {{.*}} : f32
// CHECK-NEXT: %[[H:.*]] = arith.truncf %[[E]] : f32 to f16
// CHECK-NEXT: %[[W:.*]] = arith.extf %[[H]] : f16 to f32
// CHECK-NEXT: math.cos %[[W]] : f32
func.func @chain(%x: f16) -> f16 {
  %e = math.expm1 %x : f16
  %c = math.cos %e : f16
  return %c : f16
}
