// RUN: tir-opt %s --tir-from-linalg --emit=script | FileCheck %s
// RUN: tir-opt %s -p 'tir-from-linalg,tir-reverse-compute-at{block=last loop=matmul:i1}' --emit=script | FileCheck %s --check-prefix=FUSED

// A product and a bias share one tensor.empty, as CSE leaves them: each has a buffer, so that they can be fused.
// CHECK-LABEL: def dense(
// CHECK:         buf0 = T.alloc_buffer((4, 8))
// CHECK:           with T.block("matmul"):
// CHECK:             buf0[v0, v1] = buf0[v0, v1] + arg0[v0, v2] * arg1[v2, v1]
// CHECK:           with T.block("last"):
// CHECK:             arg3[v0, v1] = buf0[v0, v1] + arg2[v1]
// FUSED-LABEL: def dense(
// FUSED:         for i0, i1 in T.grid(4, 8):
// FUSED-NEXT:      for i2 in range(16):
// FUSED-NEXT:        with T.block("matmul"):
// FUSED:           with T.block("last"):
func.func @dense(%A: tensor<4x16xf32>, %B: tensor<16x8xf32>, %b: tensor<8xf32>) -> tensor<4x8xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
  %p = linalg.matmul ins(%A, %B : tensor<4x16xf32>, tensor<16x8xf32>) outs(%f : tensor<4x8xf32>) -> tensor<4x8xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>,
                                        affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
    ins(%p, %b : tensor<4x8xf32>, tensor<8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %s = arith.addf %x, %y : f32
    linalg.yield %s : f32
  } -> tensor<4x8xf32> loc("last")
  return %r : tensor<4x8xf32>
}
