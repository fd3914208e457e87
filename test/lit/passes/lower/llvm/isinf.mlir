// RUN: tir-opt %s -p tir-lower-isinf | FileCheck %s

// CHECK-LABEL: func.func @infinite
// CHECK-DAG: %[[UP:.*]] = arith.constant 0x7F800000 : f32
// CHECK-DAG: %[[DOWN:.*]] = arith.constant 0xFF800000 : f32
// CHECK: %[[A:.*]] = arith.cmpf oeq, %arg0, %[[UP]] : f32
// CHECK: %[[B:.*]] = arith.cmpf oeq, %arg0, %[[DOWN]] : f32
// CHECK: arith.ori %[[A]], %[[B]] : i1
// CHECK: arith.ori {{.*}} : vector<8xi1>
// CHECK-NOT: math.isinf
func.func @infinite(%x: f32, %v: vector<8xbf16>) -> (i1, vector<8xi1>) {
  %a = math.isinf %x : f32
  %b = math.isinf %v : vector<8xbf16>
  return %a, %b : i1, vector<8xi1>
}
