# RUN: tir-opt %s --split-input-file --verify-diagnostics --emit=script -p 'tir-parallel{loop=i}' | FileCheck %s


# CHECK-LABEL: def rows(
@T.prim_func
def rows(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
    # CHECK: for i in T.parallel(8):
    for i in range(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = A[vi]


# -----


# A buffer that every iteration fills before it reads it counts as one copy an iteration.
# CHECK-LABEL: def scratch(
@T.prim_func
def scratch(A: T.Buffer((8, 4), "float32"), B: T.Buffer((8, 4), "float32")):
    Y = T.alloc_buffer((4,), "float32")
    # CHECK: for i in T.parallel(8):
    for i in range(8):
        for j in range(4):
            with T.block("Y"):
                T.reads(A[i, j])
                T.writes(Y[j])
                Y[j] = A[i, j]
        for j in range(4):
            with T.block("B"):
                T.reads(Y[j])
                T.writes(B[i, j])
                B[i, j] = Y[j]


# -----


@T.prim_func
def total(A: T.Buffer((8,), "float32"), B: T.Buffer((1,), "float32")):
    # expected-error-re @below {{loop i cannot be parallel: two of its iterations depend on each other: B(i=0) and B(i=1) touch B[0]}}
    for i in range(8):
        with T.block("B"):
            vi = T.axis.reduce(8, i)
            with T.init():
                B[0] = T.float32(0)
            B[0] = B[0] + A[vi]
