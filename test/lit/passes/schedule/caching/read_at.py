# RUN: tir-opt %s --split-input-file --verify-diagnostics --emit=script -p 'tir-read-at{loop=i block=B buffer=A scope=shared}' | FileCheck %s
# RUN: not tir-opt %s --split-input-file -p 'tir-read-at{loop=x block=B buffer=A scope=shared}' 2>&1 | FileCheck %s --check-prefix=LOOP
# RUN: not tir-opt %s --split-input-file -p 'tir-read-at{loop=i block=B buffer=A scope=fast}' 2>&1 | FileCheck %s --check-prefix=SCOPE


# LOOP: error: {{.*}}loop x is not around block "B"
# SCOPE: error: {{.*}}'fast' is not a storage scope
# CHECK-LABEL: def windows(
@T.prim_func
def windows(A: T.Buffer((10, 8), "float32"), B: T.Buffer((8, 8), "float32"), X: T.Buffer((4,), "float32")):
    for x in range(4):
        with T.block("X"):
            vx = T.axis.spatial(4, x)
            X[vx] = T.float32(0)
    # CHECK: for i in range(8):
    # CHECK-NEXT: with T.block("A_shared"):
    # CHECK-NEXT: v0 = T.axis.opaque(8, i)
    # CHECK-NEXT: T.reads(A[v0:v0 + 3, 0:8])
    # CHECK-NEXT: T.writes(A_shared[v0:v0 + 3, 0:8])
    # CHECK-NEXT: T.block_attr({"auto_copy": {{.*}}})
    # CHECK-NEXT: for ax0, ax1 in T.grid(3, 8):
    # CHECK-NEXT: A_shared[v0 + ax0, ax1] = A[v0 + ax0, ax1]
    for i, j in T.grid(8, 8):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] + A[vi + 2, vj]


# -----


@T.prim_func
def late(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
    for i in range(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = A[vi]
        # expected-error @below {{A is written here after it was read in loop i; the copy would be stale}}
        with T.block("A"):
            vi = T.axis.spatial(8, i)
            A[vi] = T.float32(0)


# -----


@T.prim_func
def triangle(A: T.Buffer((8, 8), "float32")):
    B = T.alloc_buffer((8, 8), "float32")
    for j in range(8):
        # expected-error @below {{the range of loop i depends on other loops; it cannot be the domain of an iter}}
        for i in range(j + 1):
            with T.block("B"):
                vj = T.axis.spatial(8, j)
                vi = T.axis.spatial(8, i)
                B[vj, vi] = A[vj, vi]


# -----


# The loop is around the block that contains the block.
# CHECK-LABEL: def outer_scope(
@T.prim_func
def outer_scope(A: T.Buffer((8, 4), "float32"), B: T.Buffer((8, 4), "float32")):
    # CHECK: for i in range(8):
    # CHECK-NEXT: with T.block("A_shared"):
    # CHECK: with T.block("outer"):
    # CHECK-NEXT: vi = T.axis.spatial(8, i)
    # CHECK-NEXT: T.reads(A_shared[vi, 0:4])
    # CHECK: B[vi, vj] = A_shared[vi, vj]
    for i in range(8):
        with T.block("outer"):
            vi = T.axis.spatial(8, i)
            for j in range(4):
                with T.block("B"):
                    vj = T.axis.spatial(4, j)
                    B[vi, vj] = A[vi, vj]


# -----


# The accumulator keeps the buffer; the reader after it uses the copy.
# CHECK-LABEL: def after_an_accumulator(
@T.prim_func
def after_an_accumulator(X: T.Buffer((6, 9), "float32"), B: T.Buffer((6,), "float32")):
    # CHECK: A[vh] = A[vh] + X[vh, vi]
    # CHECK-NEXT: with T.block("A_shared"):
    # CHECK: B[vh] = A_shared[vh]
    A = T.alloc_buffer((6,), "float32")
    for h, i in T.grid(6, 9):
        with T.block("S"):
            vh, vi = T.axis.remap("SR", [h, i])
            with T.init():
                A[vh] = T.float32(0)
            A[vh] = A[vh] + X[vh, vi]
        with T.block("B"):
            vh = T.axis.spatial(6, h)
            B[vh] = A[vh]
