# RUN: tir-opt %s --split-input-file --mlir-print-local-scope -p 'tir-lower-blocks,tir-lower-conditions,tir-lower-hoist-guards' | FileCheck %s


# A guard on the inner loop is its bound; one on the outer loop alone stands around both. A loop that runs once goes.
# CHECK-LABEL: func.func @tiles
# CHECK: affine.for %[[I:.*]] = 0 to 7 {
# CHECK-NEXT: affine.for %[[J:.*]] = 0 to min affine_map<(d0) -> (16, d0 * -16 + 100)>(%[[I]]) {
# CHECK-NEXT: affine.for %[[K:.*]] = 0 to 8 {
# CHECK-NOT: affine.if
# CHECK: affine.store %{{.*}}, %arg0[%[[I]] * 16 + %[[J]], %[[K]]]
@T.prim_func
def tiles(A: T.Buffer((100, 8), "float32")):
    for one, i, j, k in T.grid(1, 7, 16, 8):
        with T.block("A"):
            vi = T.axis.spatial(100, one + i * 16 + j)
            vk = T.axis.spatial(8, k)
            T.where(i * 16 + j < 100)
            A[vi, vk] = T.float32(0)


# -----


# What is not an upper bound of a loop remains a condition.
# CHECK-LABEL: func.func @others
# CHECK: affine.for %[[I:.*]] = 0 to 16 {
# CHECK-NEXT: affine.if affine_set<(d0) : (d0 - 3 >= 0)>(%[[I]])
@T.prim_func
def others(A: T.Buffer((13,), "float32")):
    for i in range(16):
        with T.block("A"):
            vi = T.axis.spatial(13, i - 3)
            T.where(i >= 3)
            A[vi] = T.float32(0)


# -----


# A size that is not known is a bound, too.
# CHECK-LABEL: func.func @symbolic
# CHECK: affine.for %[[I:.*]] = 0 to {{.*}} {
# CHECK-NEXT: affine.for %{{.*}} = 0 to min affine_map<(d0)[s0] -> (16, d0 * -16 + s0)>(%[[I]])[
@T.prim_func
def symbolic(a: T.handle):
    n = T.int32()
    A = T.match_buffer(a, (n,), "float32")
    for i, j in T.grid((n + 15) // 16, 16):
        with T.block("A"):
            vi = T.axis.spatial(n, i * 16 + j)
            T.where(i * 16 + j < n)
            A[vi] = T.float32(0)
