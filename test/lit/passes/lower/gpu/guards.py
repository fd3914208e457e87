# RUN: tir-opt %s --mlir-print-local-scope -p 'tir-lower-blocks,tir-lower-gpu-memory,tir-lower-gpu-axes,tir-lower-gpu-guards' | FileCheck %s


# What the guard says of %k leaves both loops; what it says of %i leaves none, and is no bound.
# CHECK: affine.for %[[K:.*]] = 0 to 5 {
# CHECK-NEXT: affine.if affine_set<(d0) : (d0 - 1 >= 0)>(%[[K]]) {
# CHECK-NEXT: affine.for %[[I:.*]] = 0 to 4 {
# CHECK-NEXT: affine.if affine_set<(d0, d1) : (d0 * -4 - d1 + 99 >= 0)>
# CHECK-NEXT: affine.for %{{.*}} = 0 to 4 {
# CHECK-NEXT: affine.load
@T.prim_func
def main(A: T.Buffer((100, 20), "float32"), B: T.Buffer((100, 20), "float32")):
    for t in T.thread_binding(32, thread="threadIdx.x"):
        for k, i, j in T.grid(5, 4, 4):
            with T.block("B"):
                vi = T.axis.spatial(100, t * 4 + i)
                vj = T.axis.spatial(20, k * 4 + j)
                T.where(1 <= k and t * 4 + i < 100)
                B[vi, vj] = A[vi, vj]
