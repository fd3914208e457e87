# RUN: tir-opt %s --split-input-file --verify-diagnostics --emit=script -p 'tir-reorder{loops=j,i}' | FileCheck %s


# Loops that are not named stay where they are; kinds travel.
# CHECK-LABEL: def between(
@T.prim_func
def between(A: T.Buffer((4, 5, 6), "float32")):
    # CHECK: for j in T.parallel(6):
    # CHECK-NEXT: for k, i in T.grid(5, 4):
    for i in range(4):
        for k in range(5):
            for j in T.parallel(6):
                with T.block("A"):
                    vi, vk, vj = T.axis.remap("SSS", [i, k, j])
                    A[vi, vk, vj] = T.float32(0)


# -----


# A reduction may run in any order.
# CHECK-LABEL: def reduction(
@T.prim_func
def reduction(A: T.Buffer((4, 6), "float32"), B: T.Buffer((4,), "float32")):
    # CHECK: for j, i in T.grid(6, 4):
    for i, j in T.grid(4, 6):
        with T.block("B"):
            vi, vj = T.axis.remap("SR", [i, j])
            with T.init():
                B[vi] = T.float32(0)
            B[vi] = B[vi] + A[vi, vj]


# -----


@T.prim_func
def recurrence(A: T.Buffer((8, 8), "float32")):
    # expected-error @below {{in the order j, i a dependence would run backwards: }}
    for i in range(7):
        for j in range(7):
            with T.block("A"):
                T.reads(A[i, j + 1])
                T.writes(A[i + 1, j])
                A[i + 1, j] = A[i, j + 1]


# -----


@T.prim_func
def triangle(A: T.Buffer((8, 8), "float32")):
    for i in range(8):
        # expected-error @below {{the bounds of loop j depend on i, which would move inside it}}
        for j in range(i + 1):
            with T.block("A"):
                T.reads()
                T.writes(A[i, j])
                A[i, j] = T.float32(0)


# -----


@T.prim_func
def two_paths(A: T.Buffer((4,), "float32"), B: T.Buffer((8,), "float32")):
    # expected-error @below {{loop i is not on one path with loop j}}
    for i in range(4):
        with T.block("A"):
            vi = T.axis.spatial(4, i)
            A[vi] = T.float32(0)
    for j in range(8):
        with T.block("B"):
            vj = T.axis.spatial(8, j)
            B[vj] = T.float32(0)


# -----


@T.prim_func
def ordered(A: T.Buffer((5, 9), "float32")):
    # expected-error @below {{in the order j, i a dependence would run backwards: A(i=0, j=1) and A(i=1, j=0) touch A[1, 1]}}
    for i, j in T.grid(4, 8):
        with T.block("A"):
            vi = T.axis.opaque(4, i)
            vj = T.axis.opaque(8, j)
            A[vi + 1, vj] = A[vi, vj + 1]


# -----


@T.prim_func
def another_block(A: T.Buffer((8, 4), "float32")):
    for i in range(8):
        with T.block("outer"):
            vi = T.axis.spatial(8, i)
            # expected-error @below {{loops i and j are not nested in one another under the same block scope}}
            for j in range(4):
                with T.block("A"):
                    vj = T.axis.spatial(4, j)
                    A[vi, vj] = T.float32(0)


# -----


@T.prim_func
def more_between(A: T.Buffer((8, 4), "float32"), B: T.Buffer((8,), "float32")):
    # expected-error @below {{the body of loop i contains more than loop j, so the two are not a perfect nest}}
    for i in range(8):
        for j in range(4):
            with T.block("A"):
                vi, vj = T.axis.remap("SS", [i, j])
                A[vi, vj] = T.float32(0)
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = T.float32(0)
