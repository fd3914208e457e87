# RUN: tir-opt %s --split-input-file --verify-diagnostics --emit=script -p 'tir-unroll{loop=i}' | FileCheck %s


# Always legal: the order stays.
# CHECK-LABEL: def chain(
@T.prim_func
def chain(A: T.Buffer((9,), "float32")):
    # CHECK: for i in T.unroll(8):
    for i in range(8):
        with T.block("A"):
            T.reads(A[i])
            T.writes(A[i + 1])
            A[i + 1] = A[i]


# -----


# CHECK-LABEL: def drops_binding(
# expected-warning @unknown {{loop i was threadIdx.x, and is only unrolled now}}
@T.prim_func
def drops_binding(A: T.Buffer((8,), "float32")):
    # CHECK: for i in T.unroll(8):
    for i in T.thread_binding(8, thread="threadIdx.x"):
        with T.block("A"):
            vi = T.axis.spatial(8, i)
            A[vi] = T.float32(0)


# -----


@T.prim_func
# expected-error @below {{no loop i in missing (loops there: j)}}
def missing(A: T.Buffer((8,), "float32")):
    for j in range(8):
        with T.block("A"):
            vj = T.axis.spatial(8, j)
            A[vj] = T.float32(0)
