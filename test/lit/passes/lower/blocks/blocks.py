# RUN: tir-opt %s --split-input-file --mlir-print-local-scope -p tir-lower-blocks | FileCheck %s


# Iters become their bindings; the init and the guard stay conditions.
# CHECK-LABEL: func.func @guarded
# CHECK-NOT: affine.parallel
# CHECK: affine.for %[[O:.*]] = 0 to 4 {
# CHECK: affine.for %[[I:.*]] = 0 to 16 {
# CHECK: affine.for %[[K:.*]] = 0 to 8 {
# CHECK: affine.if affine_set<{{.*}}>(%[[O]], %[[I]]) {
# CHECK: affine.if affine_set<(d0) : (d0 == 0)>(%[[K]]) {
# CHECK: affine.store %{{.*}}, %{{.*}}[%[[O]] * 16 + %[[I]]]
# CHECK: } {tir.init}
# CHECK: affine.load %{{.*}}[%[[O]] * 16 + %[[I]], %[[K]]]
# CHECK: } {tir.where}
# CHECK-NOT: tir.block
@T.prim_func
def guarded(A: T.Buffer((60, 8), "float32"), B: T.Buffer((60,), "float32")):
    for o, i, k in T.grid(4, 16, 8):
        with T.block("B"):
            T.where(o * 16 + i < 60)
            vi = T.axis.spatial(60, o * 16 + i)
            vk = T.axis.reduce(8, k)
            with T.init():
                B[vi] = T.float32(0)
            B[vi] = B[vi] + A[vi, vk]


# -----


# A block in a block; divisions are simplified under the ranges of the loops.
# CHECK-LABEL: func.func @nested
# CHECK: affine.for %[[O:.*]] = 0 to 4 {
# CHECK-NEXT: affine.for %[[I:.*]] = 0 to 16 {
# CHECK: affine.store %{{.*}}, %{{.*}}[%[[O]] * 16 + %[[I]]]
@T.prim_func
def nested(B: T.Buffer((64,), "float32")):
    for o in range(4):
        with T.block("B_o"):
            vo = T.axis.spatial(4, o)
            for i in range(16):
                with T.block("B"):
                    vi = T.axis.spatial(16, (i + 16) % 16)
                    B[vo * 16 + vi] = T.float32(0)
