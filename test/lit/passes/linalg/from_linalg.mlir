// RUN: tir-opt %s --split-input-file --verify-diagnostics --tir-from-linalg --emit=script | FileCheck %s

// A named op is a block of its name; extents that it demands to be equal are one shape variable.
// CHECK-LABEL: def matmul(
// CHECK-DAG:   arg0 = T.match_buffer(var_arg0, (n, m))
// CHECK-DAG:   arg1 = T.match_buffer(var_arg1, (m, k))
// CHECK-DAG:   arg2 = T.match_buffer(var_arg2, (n, k))
// CHECK:       for i0, i1 in T.grid(n, k):
// CHECK-NEXT:    with T.block("fill"):
// CHECK:       for i0, i1, i2 in T.grid(n, k, m):
// CHECK-NEXT:    with T.block("matmul"):
// CHECK-NEXT:      v0, v1, v2 = T.axis.remap("SSR", [i0, i1, i2])
// CHECK:           arg2[v0, v1] = arg2[v0, v1] + arg0[v0, v2] * arg1[v2, v1]
func.func @matmul(%A: memref<?x?xf32>, %B: memref<?x?xf32>, %C: memref<?x?xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%C : memref<?x?xf32>)
  linalg.matmul ins(%A, %B : memref<?x?xf32>, memref<?x?xf32>) outs(%C : memref<?x?xf32>)
  return
}

// -----

// The image of a convolution is as large as its windows reach.
// CHECK-LABEL: def convolution(
// CHECK:       arg0 = T.match_buffer(var_arg0, (1, n * 2 + 1, m * 2 + 1, 5))
// CHECK:       with T.block("conv_2d_nhwc_hwcf"):
// CHECK-NEXT:    v0, v1, v2, v3, v4, v5, v6 = T.axis.remap("SSSSRRR",
// CHECK:         arg0[v0, v1 * 2 + v4, v2 * 2 + v5, v6] * arg1[v4, v5, v6, v3]
func.func @convolution(%I: memref<1x?x?x5xf32>, %K: memref<3x3x5x6xf32>, %O: memref<1x?x?x6xf32>) {
  linalg.conv_2d_nhwc_hwcf {strides = dense<2> : vector<2xi64>}
    ins(%I, %K : memref<1x?x?x5xf32>, memref<3x3x5x6xf32>) outs(%O : memref<1x?x?x6xf32>)
  return
}

// -----

// Indices of iterators are data; two outputs are two stores.
// CHECK-LABEL: def generic(
// CHECK:       with T.block("generic"):
// CHECK:         arg0[v0, v1] = arg0[v0, v1] + arg2
// CHECK-NEXT:    arg1[v1, v0] = T.Cast("int64", v0 * 4 + v1)
func.func @generic(%A: memref<4x8xf32>, %B: memref<8x4xi64>, %x: f32) {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j, i)>],
                  iterator_types = ["parallel", "parallel"]} outs(%A, %B : memref<4x8xf32>, memref<8x4xi64>) {
  ^bb0(%a: f32, %b: i64):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %s = arith.addf %a, %x : f32
    %four = arith.constant 4 : index
    %m = arith.muli %i, %four : index
    %n = arith.addi %m, %j : index
    %c = arith.index_cast %n : index to i64
    linalg.yield %s, %c : f32, i64
  }
  return
}

// -----

// Tensors become buffers, a result becomes a parameter, a view is seen through.
// CHECK-LABEL: def tensors(arg0: T.Buffer((4, 4), "float32"), arg1: T.Buffer((6, 6), "float32")):
// CHECK:       arg1[v0 + 1, v1 + 1] = arg0[v0, v1]
func.func @tensors(%A: tensor<4x4xf32>) -> tensor<6x6xf32> {
  %zero = arith.constant 0.0 : f32
  %r = tensor.pad %A low[1, 1] high[1, 1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<4x4xf32> to tensor<6x6xf32>
  return %r : tensor<6x6xf32>
}

// -----

func.func @loop(%A: memref<?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error @below {{scf.for cannot be expressed as loops and blocks: raise it to affine.for}}
  scf.for %i = %c0 to %n step %c1 {
    linalg.exp ins(%A : memref<?xf32>) outs(%A : memref<?xf32>)
  }
  return
}

// -----

// A softmax is two reductions and two pointwise blocks; what is filled before a reduction with terms is its init.
// CHECK-LABEL: def softmax(
// CHECK:       with T.block("softmax_max"):
// CHECK:         with T.init():
// CHECK-NEXT:      buf0[v0] = T.float32("-inf")
// CHECK:         buf0[v0] = T.max(arg0[v0, v1], buf0[v0])
// CHECK:       with T.block("softmax_exp"):
// CHECK:         buf1[v0, v1] = T.exp(arg0[v0, v1] - buf0[v0])
// CHECK:       with T.block("softmax_sum"):
// CHECK:       with T.block("softmax_div"):
// CHECK:         arg1[v0, v1] = buf1[v0, v1] / buf2[v0]
func.func @softmax(%A: memref<4x5xf32>, %B: memref<4x5xf32>) {
  linalg.softmax dimension(1) ins(%A : memref<4x5xf32>) outs(%B : memref<4x5xf32>)
  return
}

// -----

// A constant is a parameter before the results; a result of another shape is a copy; a power is a product.
// CHECK-LABEL: def constants(arg0: T.Buffer((2, 3), "float32"), arg1: T.Buffer((2, 3), "float32"), arg2: T.Buffer((6,), "float32")):
// CHECK:       with T.block("generic"):
// CHECK:         buf0[v0, v1] = arg0[v0, v1] * arg0[v0, v1] * arg1[v0, v1]
// CHECK:       with T.block("copy"):
// CHECK:         arg2[v0] = buf0[v0 // 3, v0 % 3]
#same = affine_map<(i, j) -> (i, j)>
// expected-warning @+1 {{a constant of constants is the parameter arg1 now; the text has no values}}
func.func @constants(%A: tensor<2x3xf32>) -> tensor<6xf32> {
  %w = arith.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
  %e = tensor.empty() : tensor<2x3xf32>
  %p = linalg.generic {indexing_maps = [#same, #same, #same], iterator_types = ["parallel", "parallel"]}
      ins(%A, %w : tensor<2x3xf32>, tensor<2x3xf32>) outs(%e : tensor<2x3xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %two = arith.constant 2 : i32
    %q = math.fpowi %a, %two : f32, i32
    %m = arith.mulf %q, %b : f32
    linalg.yield %m : f32
  } -> tensor<2x3xf32>
  %r = tensor.collapse_shape %p [[0, 1]] : tensor<2x3xf32> into tensor<6xf32>
  return %r : tensor<6xf32>
}

// -----

memref.global "private" @state : memref<4xf32> = dense<[1.0, 2.0, 3.0, 4.0]>
func.func @global(%A: memref<4xf32>) {
  // expected-error @below {{the global buffer state is not a constant: fix: make it a parameter}}
  %w = memref.get_global @state : memref<4xf32>
  linalg.copy ins(%w : memref<4xf32>) outs(%A : memref<4xf32>)
  return
}

// -----

func.func @sizes(%A: memref<4xf32>, %B: memref<?xf32>, %C: memref<5xf32>) {
  linalg.copy ins(%A : memref<4xf32>) outs(%B : memref<?xf32>)
  // expected-error @below {{iterator d0 of copy has the sizes 4 and 5, which differ}}
  linalg.copy ins(%B : memref<?xf32>) outs(%C : memref<5xf32>)
  return
}

// -----

func.func @in_place(%A: memref<4x4xf32>) {
  // expected-error @below {{iter v0 of block "transpose" is declared spatial, but the iterations}}
  linalg.transpose ins(%A : memref<4x4xf32>) outs(%A : memref<4x4xf32>) permutation = [1, 0]
  return
}

// -----

func.func @not_bufferized(%A: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{tensors are converted to memrefs by `mlir-opt --one-shot-bufferize}}
  %r = tosa.abs %A : (tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

// Two products share one fill.
// CHECK-LABEL: def two(
// CHECK:         buf0 = T.alloc_buffer((4, 8))
// CHECK-NEXT:    buf1 = T.alloc_buffer((4, 8))
// CHECK:         buf0[v0, v1] = T.float32(0.0)
// CHECK:         buf1[v0, v1] = T.float32(0.0)
// CHECK:         arg3[v0, v1] = buf0[v0, v1] * buf1[v0, v1]
func.func @two(%A: tensor<4x16xf32>, %B: tensor<16x8xf32>, %C: tensor<16x8xf32>) -> tensor<4x8xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
  %p = linalg.matmul ins(%A, %B : tensor<4x16xf32>, tensor<16x8xf32>) outs(%f : tensor<4x8xf32>) -> tensor<4x8xf32>
  %q = linalg.matmul ins(%A, %C : tensor<4x16xf32>, tensor<16x8xf32>) outs(%f : tensor<4x8xf32>) -> tensor<4x8xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>,
                                        affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
    ins(%p, %q : tensor<4x8xf32>, tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %s = arith.mulf %x, %y : f32
    linalg.yield %s : f32
  } -> tensor<4x8xf32> loc("last")
  return %r : tensor<4x8xf32>
}
