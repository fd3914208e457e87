// RUN: tir-opt %s --split-input-file --verify-diagnostics --tir-graph-from-linalg --emit=script | FileCheck %s

// A program for each op, with the fill as its init; a constant is a weight, a reshape is one; sizes have names.
// CHECK:       def matmul(
// CHECK:         with T.init():
// CHECK-LABEL: def main(
// CHECK:         arg0: R.Tensor(("n", 3), dtype="float32"),
// CHECK:         weight: R.Tensor((3, 4), dtype="float32"),
// CHECK:         R.func_attr({"weights": {"weight": "weight"}})
// CHECK:         R.call_tir(cls.matmul, (arg0, weight), out_sinfo=R.Tensor((n, 4), dtype="float32"))
// CHECK-NEXT:    R.call_tir(cls.exp, (lv,), out_sinfo=R.Tensor((n, 4), dtype="float32"))
// CHECK-NEXT:    R.reshape(lv_1, shape=[-1, 2, 2])
// expected-warning @unknown {{a constant is the weight weight now; the text has no values}}
func.func @main(%x: tensor<?x3xf32>) -> tensor<?x2x2xf32> {
  %w = arith.constant dense<[[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0], [9.0, 1.0, 2.0, 3.0]]> : tensor<3x4xf32>
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x3xf32>
  %e = tensor.empty(%n) : tensor<?x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x4xf32>) -> tensor<?x4xf32>
  %p = linalg.matmul ins(%x, %w : tensor<?x3xf32>, tensor<3x4xf32>) outs(%f : tensor<?x4xf32>) -> tensor<?x4xf32>
  %r = linalg.exp ins(%p : tensor<?x4xf32>) outs(%e : tensor<?x4xf32>) -> tensor<?x4xf32>
  %v = tensor.expand_shape %r [[0], [1, 2]] output_shape [%n, 2, 2] : tensor<?x4xf32> into tensor<?x2x2xf32>
  return %v : tensor<?x2x2xf32>
}

// -----

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{tosa.abs has no form in a graph; fix: an op of linalg, or mlir-opt passes that make one}}
  %r = tosa.abs %x : (tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}
