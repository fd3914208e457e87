# RUN: tir-opt %s --split-input-file --mlir-print-local-scope -p 'tir-lower-strides-align,tir-lower-blocks,tir-lower-rows' | FileCheck %s


# Rows that follow each other are read as one.
# CHECK-LABEL: func.func @rows
# CHECK: %[[FLAT:.*]] = memref.collapse_shape %arg0 {{\[\[}}0, 1]] : memref<16x4xi8> into memref<64xi8>
# CHECK: affine.vector_load %[[FLAT]][%{{.*}} * 8] : memref<64xi8>, vector<8xi8>
# CHECK: affine.vector_store %{{.*}}, %arg1[%{{.*}}, 0] : memref<8x8xi8>, vector<8xi8>
@T.prim_func
def rows(A: T.Buffer((16, 4), "int8"), B: T.Buffer((8, 8), "int8")):
    for i in range(8):
        B[i, 0:8] = A.vload([i * 2, 0], "int8x8")


# -----


# Only the last two of three dimensions.
# CHECK-LABEL: func.func @inner
# CHECK: %[[FLAT:.*]] = memref.collapse_shape %arg1 {{\[\[}}0], [1, 2]] : memref<3x4x2xi8> into memref<3x8xi8>
# CHECK: affine.vector_store %{{.*}}, %[[FLAT]][%{{.*}}, 4] : memref<3x8xi8>, vector<4xi8>
@T.prim_func
def inner(A: T.Buffer((3, 4), "int8"), B: T.Buffer((3, 4, 2), "int8")):
    for i in range(3):
        B.vstore([i, 2, 0], A[i, 0:4])


# -----


# Rows of an aligned buffer are apart.
# CHECK-LABEL: func.func @aligned
# CHECK-COUNT-2: affine.vector_store %{{.*}}, %{{.*}} : memref<4x4xf32>, vector<4xf32>
# CHECK: affine.vector_load %{{.*}}[0, 0] : memref<4x4xf32>, vector<4xf32>
# CHECK: affine.vector_load %{{.*}}[1, 0] : memref<4x4xf32>, vector<4xf32>
# CHECK: vector.from_elements {{.*}} : vector<2x4xf32>
# CHECK-NOT: vector<2x4xf32>, memref
@T.prim_func
def aligned(A: T.Buffer((4, 4), "float32"), C: T.Buffer((2, 8), "float32")):
    B = T.alloc_buffer((4, 4), "float32")
    for i in range(2):
        with T.block("B"):
            vi = T.axis.spatial(2, i)
            T.block_attr({"buffer_dim_align": [[0, 0, 16, 2]]})
            B.vstore([vi * 2, 0], A.vload([vi * 2, 0], "float32x8"))
    with T.block("C"):
        C[0, 0:8] = B.vload([0, 0], "float32x8")
