# RUN: tir-opt %s --split-input-file --verify-diagnostics --emit=script -p 'tir-decompose-reduction{block=B loop=k}' | FileCheck %s


# CHECK-LABEL: def total(
@T.prim_func
def total(A: T.Buffer((8, 4), "float32"), B: T.Buffer((8,), "float32")):
    # CHECK: for i in range(8):
    # CHECK-NEXT: with T.block("B_init"):
    # CHECK: B[vi] = T.float32(0.0)
    # CHECK: for k in range(4):
    # CHECK-NEXT: with T.block("B_update"):
    # CHECK-NOT: T.init()
    for i, k in T.grid(8, 4):
        with T.block("B"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                B[vi] = T.float32(0)
            B[vi] = B[vi] + A[vi, vk]


# -----


@T.prim_func
def no_init(A: T.Buffer((8, 4), "float32"), B: T.Buffer((8,), "float32")):
    for i, k in T.grid(8, 4):
        # expected-error @below {{block "B" has no init}}
        with T.block("B"):
            vi, vk = T.axis.remap("SR", [i, k])
            B[vi] = B[vi] + A[vi, vk]


# -----


# The init would run again in the middle of the sum.
@T.prim_func
def outer_part(A: T.Buffer((8,), "float32"), B: T.Buffer((1,), "float32")):
    # expected-error @below {{reduce iter vk uses loop i, which is outside loop k: the init would run again in the middle of the sum}}
    for i in range(2):
        for k in range(4):
            with T.block("B"):
                vk = T.axis.reduce(8, i * 4 + k)
                with T.init():
                    B[0] = T.float32(0)
                B[0] = B[0] + A[vk]
