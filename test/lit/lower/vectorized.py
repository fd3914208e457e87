# RUN: tir-opt %s --split-input-file --mlir-print-local-scope -p 'tir-lower-blocks,tir-lower-conditions,tir-lower-vectorized' | FileCheck %s


# What does not depend on the lane is broadcast.
# CHECK-LABEL: func.func @lanes
# CHECK: affine.for %[[I:.*]] = 0 to 4 {
# CHECK-NOT: affine.for
# CHECK-DAG: affine.vector_load %arg0[%[[I]], 0] : memref<4x16xf32>, vector<16xf32>
# CHECK-DAG: vector.broadcast {{.*}} : f32 to vector<16xf32>
# CHECK: arith.mulf {{.*}} : vector<16xf32>
# CHECK: affine.vector_store %{{.*}}, %arg2[%[[I]], 0] : memref<4x16xf32>, vector<16xf32>
@T.prim_func
def lanes(A: T.Buffer((4, 16), "float32"), S: T.Buffer((4,), "float32"), B: T.Buffer((4, 16), "float32")):
    for i in range(4):
        for j in T.vectorized(16):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj] * S[vi]


# -----


# Over 64 lanes: chunks of a register, and a narrower vector for the rest.
# CHECK-LABEL: func.func @chunks
# CHECK: affine.for %{{.*}} = 0 to 6 {
# CHECK: affine.vector_store {{.*}} vector<16xf32>
# CHECK: affine.vector_store {{.*}} vector<4xf32>
@T.prim_func
def chunks(A: T.Buffer((100,), "float32"), B: T.Buffer((100,), "float32")):
    for j in T.vectorized(100):
        with T.block("B"):
            vj = T.axis.spatial(100, j)
            B[vj] = A[vj]


# -----


# A body without a vector form stays scalar.
# CHECK-LABEL: func.func @guarded
# CHECK: affine.for
# CHECK-NOT: vector
# CHECK: affine.if
@T.prim_func
def guarded(A: T.Buffer((10,), "float32")):
    for o in range(2):
        for j in T.vectorized(8):
            with T.block("A"):
                T.where(o * 8 + j < 10)
                v = T.axis.spatial(10, o * 8 + j)
                A[v] = T.float32(0)
