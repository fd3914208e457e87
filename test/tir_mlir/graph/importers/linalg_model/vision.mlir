// As compilers write a small network: padding, a convolution from its bias, pools, slices, look-ups, sums, positions.
#id4 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#id2 = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#id1 = affine_map<(d0) -> (d0)>
func.func @main(%image: tensor<1x2x7x7xf32>, %weight: tensor<4x2x3x3xf32>, %bias: tensor<4xf32>,
                %table: tensor<5x6xf32>, %at: tensor<3xi64>) -> (tensor<4x10xf32>, tensor<3xi64>, tensor<3x8xf32>) {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %none = arith.constant 0 : i64
  %padded = tensor.pad %image low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%a: index, %b: index, %c: index, %d: index):
    tensor.yield %zero : f32
  } : tensor<1x2x7x7xf32> to tensor<1x2x9x9xf32>
  %e0 = tensor.empty() : tensor<1x4x7x7xf32>
  %start = linalg.broadcast ins(%bias : tensor<4xf32>) outs(%e0 : tensor<1x4x7x7xf32>) dimensions = [0, 2, 3]
  %conv = linalg.conv_2d_nchw_fchw {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>}
      ins(%padded, %weight : tensor<1x2x9x9xf32>, tensor<4x2x3x3xf32>) outs(%start : tensor<1x4x7x7xf32>) -> tensor<1x4x7x7xf32>
  %relu = linalg.generic {indexing_maps = [#id4, #id4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%conv : tensor<1x4x7x7xf32>) outs(%e0 : tensor<1x4x7x7xf32>) {
  ^bb0(%in: f32, %out: f32):
    %p = arith.cmpf ugt, %in, %zero : f32
    %s = arith.select %p, %in, %zero : f32
    linalg.yield %s : f32
  } -> tensor<1x4x7x7xf32>
  %window = tensor.empty() : tensor<2x2xf32>
  %e1 = tensor.empty() : tensor<1x4x3x3xf32>
  %f1 = linalg.fill ins(%low : f32) outs(%e1 : tensor<1x4x3x3xf32>) -> tensor<1x4x3x3xf32>
  %pool = linalg.pooling_nchw_max {dilations = dense<1> : vector<2xi64>, strides = dense<2> : vector<2xi64>}
      ins(%relu, %window : tensor<1x4x7x7xf32>, tensor<2x2xf32>) outs(%f1 : tensor<1x4x3x3xf32>) -> tensor<1x4x3x3xf32>
  %flat = tensor.collapse_shape %pool [[0, 1], [2, 3]] : tensor<1x4x3x3xf32> into tensor<4x9xf32>
  %e2 = tensor.empty() : tensor<4x10xf32>
  %one = tensor.extract_slice %flat[0, 3] [4, 1] [1, 1] : tensor<4x9xf32> to tensor<4x1xf32>
  %i0 = tensor.insert_slice %flat into %e2[0, 0] [4, 9] [1, 1] : tensor<4x9xf32> into tensor<4x10xf32>
  %joined = tensor.insert_slice %one into %i0[0, 9] [4, 1] [1, 1] : tensor<4x1xf32> into tensor<4x10xf32>
  %e3 = tensor.empty() : tensor<3x6xf32>
  %found = linalg.generic {indexing_maps = [#row, #id2], iterator_types = ["parallel", "parallel"]}
      ins(%at : tensor<3xi64>) outs(%e3 : tensor<3x6xf32>) {
  ^bb0(%in: i64, %out: f32):
    %c5 = arith.constant 5 : i64
    %below = arith.cmpi slt, %in, %c5 : i64
    cf.assert %below, "index must be smaller than dim size"
    %r = arith.index_cast %in : i64 to index
    %j = linalg.index 1 : index
    %v = tensor.extract %table[%r, %j] : tensor<5x6xf32>
    linalg.yield %v : f32
  } -> tensor<3x6xf32>
  %e4 = tensor.empty() : tensor<3xf32>
  %e5 = tensor.empty() : tensor<3xi64>
  %f4 = linalg.fill ins(%low : f32) outs(%e4 : tensor<3xf32>) -> tensor<3xf32>
  %f5 = linalg.fill ins(%none : i64) outs(%e5 : tensor<3xi64>) -> tensor<3xi64>
  %best:2 = linalg.generic {indexing_maps = [#id2, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%found : tensor<3x6xf32>) outs(%f4, %f5 : tensor<3xf32>, tensor<3xi64>) {
  ^bb0(%in: f32, %m: f32, %k: i64):
    %j = linalg.index 1 : index
    %jj = arith.index_cast %j : index to i64
    %more = arith.maximumf %in, %m : f32
    %p = arith.cmpf ogt, %in, %m : f32
    %which = arith.select %p, %jj, %k : i64
    linalg.yield %more, %which : f32, i64
  } -> (tensor<3xf32>, tensor<3xi64>)
  %wide = tensor.pad %found low[0, 1] high[0, 1] {
  ^bb0(%a: index, %b: index):
    tensor.yield %zero : f32
  } : tensor<3x6xf32> to tensor<3x8xf32>
  return %joined, %best#1, %wide : tensor<4x10xf32>, tensor<3xi64>, tensor<3x8xf32>
}
