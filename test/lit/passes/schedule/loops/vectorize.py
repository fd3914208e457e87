# RUN: tir-opt %s --split-input-file --verify-diagnostics --emit=script -p 'tir-vectorize{loop=j}' | FileCheck %s


# CHECK-LABEL: def lanes(
@T.prim_func
def lanes(A: T.Buffer((8, 16), "float32"), B: T.Buffer((8, 16), "float32")):
    # CHECK: for i in range(8):
    # CHECK-NEXT: for j in T.vectorized(16):
    for i, j in T.grid(8, 16):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj]


# -----


# CHECK-LABEL: def symbolic(
@T.prim_func
def symbolic(b: T.handle):
    n = T.int32()
    B = T.match_buffer(b, (n,), "float32")
    # CHECK: for j in T.vectorized(n):
    for j in range(n):
        with T.block("B"):
            vj = T.axis.spatial(n, j)
            B[vj] = T.float32(0)


# -----


# Lanes may sum up together.
# CHECK-LABEL: def total(
@T.prim_func
def total(A: T.Buffer((16,), "float32"), C: T.Buffer((), "float32")):
    # CHECK: for j in T.vectorized(16):
    for j in range(16):
        with T.block("C"):
            vj = T.axis.reduce(16, j)
            with T.init():
                C[()] = T.float32(0)
            C[()] = C[()] + A[vj]


# -----


@T.prim_func
def chain(A: T.Buffer((9,), "float32")):
    # expected-error @below {{loop j cannot be vectorized: two of its iterations depend on each other}}
    for j in range(8):
        with T.block("A"):
            T.reads(A[j])
            T.writes(A[j + 1])
            A[j + 1] = A[j]
