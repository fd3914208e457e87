# RUN: tir-opt %s --split-input-file --mlir-print-local-scope -p 'tir-lower-blocks,tir-lower-row-copies' | FileCheck %s


# Rows of 14 with gaps of 2: at most one of them ends among 8 lanes. The masks depend on the panel alone.
# CHECK-LABEL: func.func @rows
# CHECK: affine.for %[[J:.*]] = 0 to 4
# CHECK: %[[HERE:.*]] = vector.create_mask {{.*}} : vector<8xi1>
# CHECK: %[[NEXT:.*]] = arith.xori %[[HERE]]
# CHECK: affine.for %{{.*}} = 0 to 3
# CHECK: %[[FIRST:.*]] = vector.maskedload %arg0[{{.*}}], %[[HERE]], {{.*}} : memref<3x128xf32>, vector<8xi1>, vector<8xf32>
# CHECK: %[[ALL:.*]] = vector.maskedload %arg0[{{.*}}], %[[NEXT]], %[[FIRST]]
# CHECK: affine.vector_store %[[ALL]], %arg1
# CHECK-NOT: vectorized
@T.prim_func
def rows(A: T.Buffer((3, 128), "float32"), B: T.Buffer((4, 3, 8), "float32")):
    for j, c in T.grid(4, 3):
        for l in T.vectorized(8):
            with T.block("B"):
                vj, vc, vl = T.axis.remap("SSS", [j, c, l])
                B[vj, vc, vl] = A[vc, (vj * 8 + vl) // 14 * 2 + vj * 8 + vl]


# -----


# Pieces that divide the rows never cross one.
# CHECK-LABEL: func.func @whole
# CHECK: affine.vector_load %arg0[{{.*}}] : memref<128xf32>, vector<4xf32>
# CHECK: affine.vector_load %arg0[{{.*}}] : memref<128xf32>, vector<4xf32>
# CHECK-NOT: maskedload
@T.prim_func
def whole(A: T.Buffer((128,), "float32"), B: T.Buffer((4, 8), "float32")):
    for j in range(4):
        for l in T.vectorized(8):
            with T.block("B"):
                vj, vl = T.axis.remap("SS", [j, l])
                B[vj, vl] = A[(vj * 8 + vl) // 12 * 2 + vj * 8 + vl]


# -----


# Every other element: two vectors that end where the last lane does, and a shuffle.
# CHECK-LABEL: func.func @stride
# CHECK: %[[A:.*]] = affine.vector_load %arg0[%[[J:.*]] * 8] : memref<15xf32>, vector<4xf32>
# CHECK: %[[B:.*]] = affine.vector_load %arg0[%[[J]] * 8 + 3] : memref<15xf32>, vector<4xf32>
# CHECK: vector.shuffle %[[A]], %[[B]] [0, 2, 5, 7]
@T.prim_func
def stride(A: T.Buffer((15,), "float32"), B: T.Buffer((2, 4), "float32")):
    for j in range(2):
        for l in T.vectorized(4):
            with T.block("B"):
                vj, vl = T.axis.remap("SS", [j, l])
                B[vj, vl] = A[vj * 8 + vl * 2]


# -----


# Lanes next to each other, a sum, and lanes that are far apart are left to the vectorizer.
# CHECK-LABEL: func.func @left
# CHECK-NOT: vector
# CHECK-COUNT-3: tir.kind = "vectorized"
@T.prim_func
def left(A: T.Buffer((64,), "float32"), B: T.Buffer((8,), "float32"), C: T.Buffer((8,), "float32"), D: T.Buffer((8,), "float32")):
    for l in T.vectorized(8):
        with T.block("B"):
            vl = T.axis.spatial(8, l)
            B[vl] = A[vl]
    for l in T.vectorized(8):
        with T.block("C"):
            vl = T.axis.spatial(8, l)
            C[vl] = A[vl * 2] + A[vl]
    for l in T.vectorized(8):
        with T.block("D"):
            vl = T.axis.spatial(8, l)
            D[vl] = A[vl * 8]
