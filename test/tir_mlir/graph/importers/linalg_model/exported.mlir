// As torch-mlir writes a layer of dynamic batch: constants as resources, sizes checked and computed, generics.
#rows = affine_map<(d0, d1) -> (d0, d1)>
#bias = affine_map<(d0, d1) -> (d1)>
module attributes {torch.debug_module_name = "Layer"} {
  func.func @forward(%arg0: tensor<?x6xf32>) -> tensor<?x2x2xf32> {
    %cst = arith.constant dense_resource<torch_tensor_4_6_torch.float32> : tensor<4x6xf32>
    %cst_0 = arith.constant dense<[0.5, -0.5, 1.0, 0.0]> : tensor<4xf32>
    %zero = arith.constant 0.000000e+00 : f32
    %two = arith.constant 2 : i64
    %c0 = arith.constant 0 : index
    %0 = tensor.empty() : tensor<6x4xf32>
    %1 = linalg.transpose ins(%cst : tensor<4x6xf32>) outs(%0 : tensor<6x4xf32>) permutation = [1, 0]
    %dim = tensor.dim %arg0, %c0 : tensor<?x6xf32>
    %2 = tensor.empty(%dim) : tensor<?x4xf32>
    %3 = linalg.fill ins(%zero : f32) outs(%2 : tensor<?x4xf32>) -> tensor<?x4xf32>
    %4 = linalg.matmul ins(%arg0, %1 : tensor<?x6xf32>, tensor<6x4xf32>) outs(%3 : tensor<?x4xf32>) -> tensor<?x4xf32>
    %dim_1 = tensor.dim %4, %c0 : tensor<?x4xf32>
    %5 = arith.index_cast %dim : index to i64
    %6 = arith.index_cast %dim_1 : index to i64
    %7 = arith.cmpi eq, %5, %6 : i64
    cf.assert %7, "mismatched size for broadcast"
    %8 = linalg.generic {indexing_maps = [#rows, #bias, #rows], iterator_types = ["parallel", "parallel"]}
        ins(%4, %cst_0 : tensor<?x4xf32>, tensor<4xf32>) outs(%2 : tensor<?x4xf32>) {
    ^bb0(%in: f32, %in_2: f32, %out: f32):
      %12 = arith.addf %in, %in_2 : f32
      linalg.yield %12 : f32
    } -> tensor<?x4xf32>
    %9 = linalg.generic {indexing_maps = [#rows, #rows], iterator_types = ["parallel", "parallel"]}
        ins(%8 : tensor<?x4xf32>) outs(%2 : tensor<?x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %12 = math.fpowi %in, %two : f32, i64
      linalg.yield %12 : f32
    } -> tensor<?x4xf32>
    %10 = linalg.softmax dimension(1) ins(%9 : tensor<?x4xf32>) outs(%2 : tensor<?x4xf32>) -> tensor<?x4xf32>
    %11 = tensor.expand_shape %10 [[0], [1, 2]] output_shape [%dim, 2, 2] : tensor<?x4xf32> into tensor<?x2x2xf32>
    return %11 : tensor<?x2x2xf32>
  }
}

{-#
  dialect_resources: {
    builtin: {
      torch_tensor_4_6_torch.float32: "0x04000000000040BF000000BF000080BE000000000000803E0000003F0000403F000040BF000000BF000080BE000000000000803E0000003F0000403F000040BF000000BF000080BE000000000000803E0000003F0000403F000040BF000000BF000080BE"
    }
  }
#-}
