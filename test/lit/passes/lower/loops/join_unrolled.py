# RUN: tir-opt %s --split-input-file --mlir-print-local-scope -p 'tir-lower-blocks,tir-lower-conditions,tir-lower-hoist-guards,tir-lower-join-unrolled' | FileCheck %s
# RUN: tir-opt %s --split-input-file --mlir-print-debuginfo -p 'tir-lower-blocks,tir-lower-conditions,tir-lower-hoist-guards,tir-lower-join-unrolled' | FileCheck %s --check-prefix=MARK


# The last strip is cut: no part of the joined loop is.
# MARK-LABEL: func.func @long
# MARK: loc("tir.unroll=4"(
# CHECK-LABEL: func.func @long
# CHECK: affine.for %[[K:.*]] = 0 to 41 {
# CHECK-NEXT: affine.for %[[I:.*]] = 0 to 16 {
# CHECK: affine.load %arg0[%[[K]], %[[I]]]
# CHECK: } {{.*}}tir.kind = "unrolled"
@T.prim_func
def long(A: T.Buffer((41, 16), "float32"), S: T.Buffer((16,), "float32")):
    for k_0 in range(11):
        for k_1 in T.unroll(4):
            for i in T.unroll(16):
                with T.block("S"):
                    vk = T.axis.reduce(41, k_0 * 4 + k_1)
                    vi = T.axis.spatial(16, i)
                    T.where(k_0 * 4 + k_1 < 41)
                    S[vi] = S[vi] + A[vk, vi]


# -----


# So little code passes through the lowering as it is.
# MARK-LABEL: func.func @short
# MARK-NOT: tir.unroll
# CHECK-LABEL: func.func @short
# CHECK: affine.for {{.*}} = 0 to 10 {
# CHECK-NEXT: affine.for {{.*}} = 0 to 4 {
@T.prim_func
def short(A: T.Buffer((40,), "float32"), B: T.Buffer((40,), "float32")):
    for i_0 in range(10):
        for i_1 in T.unroll(4):
            with T.block("B"):
                vi = T.axis.spatial(40, i_0 * 4 + i_1)
                B[vi] = A[vi]


# -----


# The variables are not used in one sum.
# CHECK-LABEL: func.func @apart
# CHECK: affine.for {{.*}} = 0 to 10 {
# CHECK-NEXT: affine.for {{.*}} = 0 to 4 {
@T.prim_func
def apart(A: T.Buffer((40, 16), "float32"), S: T.Buffer((16,), "float32")):
    for k_0 in range(10):
        for k_1 in T.unroll(4):
            for i in T.unroll(16):
                with T.block("S"):
                    v0, v1 = T.axis.remap("RR", [k_0, k_1])
                    vi = T.axis.spatial(16, i)
                    S[vi] = S[vi] + A[v1 * 10 + v0, vi]


# -----


# LLVM unrolls no loop around another one.
# CHECK-LABEL: func.func @around
# CHECK: affine.for {{.*}} = 0 to 10 {
# CHECK-NEXT: affine.for {{.*}} = 0 to 4 {
@T.prim_func
def around(A: T.Buffer((40, 16, 9), "float32"), S: T.Buffer((16,), "float32")):
    for k_0 in range(10):
        for k_1 in T.unroll(4):
            for i in T.unroll(16):
                for r in range(9):
                    with T.block("S"):
                        vk = T.axis.reduce(40, k_0 * 4 + k_1)
                        vi, vr = T.axis.remap("SR", [i, r])
                        S[vi] = S[vi] + A[vk, vi, vr]
