# RUN: tir-opt %s --split-input-file --mlir-print-local-scope -p 'tir-lower-blocks,tir-lower-interleave' | FileCheck %s


# Two rows are loaded, widened, and written as one.
# CHECK-LABEL: func.func @pairs
# CHECK: affine.vector_load %arg0[0, 0] : memref<2x8xi8>, vector<8xi8>
# CHECK: %[[A:.*]] = arith.extsi %{{.*}} : vector<8xi8> to vector<8xi16>
# CHECK: affine.vector_load %arg0[1, 0] : memref<2x8xi8>, vector<8xi8>
# CHECK: %[[B:.*]] = arith.extsi %{{.*}} : vector<8xi8> to vector<8xi16>
# CHECK: %[[BOTH:.*]] = vector.interleave %[[A]], %[[B]] : vector<8xi16> -> vector<16xi16>
# CHECK: %[[FLAT:.*]] = memref.collapse_shape %arg1 {{\[\[}}0], [1, 2]] : memref<3x8x2xi16> into memref<3x16xi16>
# CHECK: affine.vector_store %[[BOTH]], %[[FLAT]][1, 0] : memref<3x16xi16>, vector<16xi16>
# CHECK-NOT: affine.for
@T.prim_func
def pairs(A: T.Buffer((2, 8), "int8"), B: T.Buffer((3, 8, 2), "int16")):
    for k in T.unroll(2):
        for j in T.vectorized(8):
            with T.block("B"):
                vk, vj = T.axis.remap("SS", [k, j])
                B[1, vj, vk] = T.Cast("int16", A[vk, vj])


# -----


# Of four rows: first those two apart.
# CHECK-LABEL: func.func @fours
# CHECK: %[[EVEN:.*]] = vector.interleave
# CHECK: %[[ODD:.*]] = vector.interleave
# CHECK: vector.interleave %[[EVEN]], %[[ODD]] : vector<16xi8> -> vector<32xi8>
@T.prim_func
def fours(A: T.Buffer((4, 8), "int8"), B: T.Buffer((8, 4), "int8")):
    for k in T.unroll(4):
        for j in T.vectorized(8):
            with T.block("B"):
                vk, vj = T.axis.remap("SS", [k, j])
                B[vj, vk] = A[vk, vj]


# -----


# Bits of a row may be flipped: bytes become those of the other sign.
# CHECK-LABEL: func.func @flipped
# CHECK: %[[ROW:.*]] = affine.vector_load %arg0[0, 0] : memref<2x8xi8>, vector<8xi8>
# CHECK: %[[BITS:.*]] = vector.broadcast {{.*}} : i8 to vector<8xi8>
# CHECK: arith.xori %[[ROW]], %[[BITS]] : vector<8xi8>
# CHECK: vector.interleave
@T.prim_func
def flipped(A: T.Buffer((2, 8), "uint8"), B: T.Buffer((8, 2), "int8")):
    for k in T.unroll(2):
        for j in T.vectorized(8):
            with T.block("B"):
                vk, vj = T.axis.remap("SS", [k, j])
                B[vj, vk] = T.Cast("int8", A[vk, vj] ^ T.uint8(128))


# -----


# Rows that fill only a part of the last dimension, and three of them, are left to the vectorizer.
# CHECK-LABEL: func.func @part
# CHECK-NOT: interleave
@T.prim_func
def part(A: T.Buffer((2, 8), "int8"), B: T.Buffer((8, 4), "int8")):
    for k in T.unroll(2):
        for j in T.vectorized(8):
            with T.block("B"):
                vk, vj = T.axis.remap("SS", [k, j])
                B[vj, vk] = A[vk, vj]


# -----


# CHECK-LABEL: func.func @three
# CHECK-NOT: interleave
@T.prim_func
def three(A: T.Buffer((3, 8), "int8"), B: T.Buffer((8, 3), "int8")):
    for k in T.unroll(3):
        for j in T.vectorized(8):
            with T.block("B"):
                vk, vj = T.axis.remap("SS", [k, j])
                B[vj, vk] = A[vk, vj]


# -----


# What stores to two buffers is not a copy.
# CHECK-LABEL: func.func @two_stores
# CHECK-NOT: interleave
@T.prim_func
def two_stores(A: T.Buffer((2, 8), "int8"), B: T.Buffer((8, 2), "int8"), C: T.Buffer((2, 8), "int8")):
    for k in T.unroll(2):
        for j in T.vectorized(8):
            with T.block("B"):
                vk, vj = T.axis.remap("SS", [k, j])
                C[vk, vj] = A[vk, vj]
                B[vj, vk] = A[vk, vj]
