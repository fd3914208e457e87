# RUN: tir-opt %s --split-input-file --verify-diagnostics --emit=script -p 'tir-compute-inline{block=Y}' | FileCheck %s
# RUN: not tir-opt %S/Inputs/init_block.py --split-input-file -p 'tir-compute-inline{block=#4}' 2>&1 | FileCheck %s --check-prefix=INIT


# INIT: error: {{.*}}block "Y" stands in an init region; only blocks of a body can be inlined
# CHECK-LABEL: def shifted(
@T.prim_func
def shifted(A: T.Buffer((9,), "float32"), B: T.Buffer((8,), "float32")):
    # CHECK-NOT: T.alloc_buffer
    # CHECK-NOT: T.block("Y")
    # CHECK: B[vi] = A[vi] * T.float32(2.0) + A[vi + 1] * T.float32(2.0)
    Y = T.alloc_buffer((9,), "float32")
    for i in range(9):
        with T.block("Y"):
            vi = T.axis.spatial(9, i)
            Y[vi] = A[vi] * T.float32(2)
    for i in range(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = Y[vi] + Y[vi + 1]


# -----


@T.prim_func
def output(A: T.Buffer((8,), "float32"), Y: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
    for i in range(8):
        # expected-error @below {{block "Y" computes Y, which is not allocated in its scope: others see it, so it must be computed}}
        with T.block("Y"):
            vi = T.axis.spatial(8, i)
            Y[vi] = A[vi]
    for i in range(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = Y[vi]


# -----


@T.prim_func
def reduction(A: T.Buffer((8, 4), "float32"), B: T.Buffer((8,), "float32")):
    Y = T.alloc_buffer((8,), "float32")
    for i, k in T.grid(8, 4):
        # expected-error @below {{block "Y" has an init: a reduction cannot be inlined}}
        with T.block("Y"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                Y[vi] = T.float32(0)
            Y[vi] = Y[vi] + A[vi, vk]
    for i in range(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = Y[vi]


# -----


# What the block reads changes before its value is used.
@T.prim_func
def overwritten(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
    Y = T.alloc_buffer((8,), "float32")
    for i in range(8):
        with T.block("Y"):
            vi = T.axis.spatial(8, i)
            Y[vi] = A[vi]
    for i in range(8):
        # expected-error @below {{A is written between block "Y", which reads it, and block "B": computed there, Y would differ}}
        with T.block("A"):
            vi = T.axis.spatial(8, i)
            A[vi] = T.float32(0)
    for i in range(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = Y[vi]
