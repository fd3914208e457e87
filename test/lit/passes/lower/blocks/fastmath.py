# RUN: tir-opt %s --split-input-file -p tir-lower-fastmath | FileCheck %s


# A declared reduction may be reassociated and contracted.
# CHECK-LABEL: func.func @reduction
# CHECK: arith.mulf {{.*}} fastmath<contract>
# CHECK: arith.addf {{.*}} fastmath<reassoc,contract>
@T.prim_func
def reduction(A: T.Buffer((8, 4), "float32"), B: T.Buffer((8,), "float32")):
    for i, k in T.grid(8, 4):
        with T.block("B"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                B[vi] = T.float32(0)
            B[vi] = B[vi] + A[vi, vk] * A[vi, vk]


# -----


# Everything else is IEEE arithmetic as written.
# CHECK-LABEL: func.func @map
# CHECK-NOT: fastmath
@T.prim_func
def map(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
    for i in range(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = B[vi] + A[vi] * A[vi]
