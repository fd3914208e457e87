# RUN: tir-opt %s --split-input-file --mlir-print-local-scope -p 'tir-lower-blocks,tir-lower-transpose' | FileCheck %s


# Rows are loaded, turned in two rounds, stored as columns.
# CHECK-LABEL: func.func @square
# CHECK-DAG: %[[A:.*]] = affine.vector_load %arg0[0, 0] : memref<4x4xf32>, vector<4xf32>
# CHECK-DAG: %[[C:.*]] = affine.vector_load %arg0[2, 0] : memref<4x4xf32>, vector<4xf32>
# CHECK: vector.shuffle %[[A]], %[[C]] [0, 1, 4, 5]
# CHECK: vector.shuffle %[[A]], %[[C]] [2, 3, 6, 7]
# CHECK: vector.shuffle {{.*}} [0, 4, 2, 6]
# CHECK: vector.shuffle {{.*}} [1, 5, 3, 7]
# CHECK: affine.vector_store %{{.*}}, %arg1[3, 0] : memref<4x4xf32>, vector<4xf32>
# CHECK-NOT: affine.for
@T.prim_func
def square(A: T.Buffer((4, 4), "float32"), B: T.Buffer((4, 4), "float32")):
    for k in T.unroll(4):
        for j in T.vectorized(4):
            with T.block("B"):
                vk, vj = T.axis.remap("SS", [k, j])
                B[vk, vj] = A[vj, vk]


# -----


# An odd side, and a copy that turns nothing, are left to the vectorizer.
# CHECK-LABEL: func.func @odd
# CHECK-NOT: shuffle
@T.prim_func
def odd(A: T.Buffer((5, 4), "float32"), B: T.Buffer((4, 5), "float32")):
    for k in T.unroll(4):
        for j in T.vectorized(5):
            with T.block("B"):
                vk, vj = T.axis.remap("SS", [k, j])
                B[vk, vj] = A[vj, vk]


# -----


# CHECK-LABEL: func.func @straight
# CHECK-NOT: shuffle
@T.prim_func
def straight(A: T.Buffer((4, 4), "float32"), B: T.Buffer((4, 4), "float32")):
    for k in T.unroll(4):
        for j in T.vectorized(4):
            with T.block("B"):
                vk, vj = T.axis.remap("SS", [k, j])
                B[vk, vj] = A[vk, vj]


# -----


# A copy to another type: each row is converted, then turned.
# CHECK-LABEL: func.func @widened
# CHECK: %[[ROW:.*]] = affine.vector_load %arg0[0, 0] : memref<4x4xf16>, vector<4xf16>
# CHECK: arith.extf %[[ROW]] : vector<4xf16> to vector<4xf32>
# CHECK: vector.shuffle {{.*}} : vector<4xf32>, vector<4xf32>
# CHECK: affine.vector_store %{{.*}}, %arg1[3, 0] : memref<4x4xf32>, vector<4xf32>
# CHECK-NOT: affine.for
@T.prim_func
def widened(A: T.Buffer((4, 4), "float16"), B: T.Buffer((4, 4), "float32")):
    for k in T.unroll(4):
        for j in T.vectorized(4):
            with T.block("B"):
                vk, vj = T.axis.remap("SS", [k, j])
                B[vk, vj] = T.Cast("float32", A[vj, vk])
