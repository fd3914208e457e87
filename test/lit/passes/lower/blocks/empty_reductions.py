# RUN: tir-opt %s --split-input-file --mlir-print-local-scope -p 'tir-lower-empty-reductions' | FileCheck %s


# The init is added before the outermost loop of the reduction, over the spatial loops below it and under their guard.
# CHECK-LABEL: func.func @sizes
@T.prim_func
def sizes(A: T.Buffer((20, "n"), "float32"), B: T.Buffer((20,), "float32")):
    n = T.int32()
    # CHECK: affine.for %[[I0:.*]] = 0 to 3
    # CHECK-NEXT: affine.if affine_set<()[s0] : (-s0 >= 0)>
    # CHECK-NEXT: affine.for %[[I1:.*]] = 0 to 8
    # CHECK-NEXT: affine.if affine_set<(d0, d1) : (d0 * -8 - d1 + 19 >= 0)>(%[[I0]], %[[I1]])
    # CHECK-NEXT: affine.parallel (%[[V:.*]]) = (%[[I0]] * 8 + %[[I1]])
    # CHECK-NEXT: %[[ZERO:.*]] = arith.constant 0.000000e+00
    # CHECK-NEXT: affine.store %[[ZERO]], %arg1[%[[V]]]
    # CHECK: tir.block = "sum_empty"
    # CHECK: affine.for %{{.*}} = 0 to
    # CHECK: tir.init
    for i0, k, i1 in T.grid(3, n, 8):
        with T.block("sum"):
            T.where(i0 * 8 + i1 < 20)
            vi = T.axis.spatial(20, i0 * 8 + i1)
            vk = T.axis.reduce(n, k)
            with T.init():
                B[vi] = T.float32(0)
            B[vi] = B[vi] + A[vi, vk]


# -----


# A reduction that has an element for all sizes stays; one that never has gets its init without a condition.
# CHECK-LABEL: func.func @numbers
# CHECK: affine.for %{{.*}} = 0 to 4
# CHECK-NEXT: affine.for %{{.*}} = 0 to 8
# CHECK-NEXT: affine.parallel
# CHECK: tir.init
# CHECK: affine.for %{{.*}} = 0 to 4
# CHECK-NEXT: affine.parallel
# CHECK: affine.store
# CHECK: tir.block = "none_empty"
# CHECK: affine.for %{{.*}} = 0 to 0
@T.prim_func
def numbers(A: T.Buffer((4, 8), "float32"), B: T.Buffer((4,), "float32"), C: T.Buffer((4,), "float32")):
    for i, k in T.grid(4, 8):
        with T.block("some"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                B[vi] = T.float32(0)
            B[vi] = B[vi] + A[vi, vk]
    for k, i in T.grid(0, 4):
        with T.block("none"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                C[vi] = T.float32(1)
            C[vi] = C[vi] * A[vi, vk]
