# RUN: tir-opt %s --split-input-file --verify-diagnostics --emit=script -p 'tir-rolling-buffer{block=B write_buffer_index=0}' | FileCheck %s


# Each iteration computes what is new, and overwrites what nobody reads any more.
# CHECK-LABEL: def blur(
@T.prim_func
def blur(A: T.Buffer((18,), "float32"), C: T.Buffer((16,), "float32")):
    # CHECK: B = T.alloc_buffer((3,))
    # CHECK: for ax0 in range(3):
    # CHECK: vi = T.axis.opaque(18, i + ax0)
    # CHECK-NEXT: T.where(i < 1 or ax0 >= 2)
    # CHECK: B[vi % 3] = A[vi]
    # CHECK: vi = T.axis.opaque(16, i)
    # CHECK: C[vi] = B[vi % 3] + B[(vi + 2) % 3]
    B = T.alloc_buffer((18,), "float32")
    for i in range(16):
        for ax0 in range(3):
            with T.block("B"):
                vi = T.axis.spatial(18, i + ax0)
                B[vi] = A[vi]
        with T.block("C"):
            vi = T.axis.spatial(16, i)
            C[vi] = B[vi] + B[vi + 2]


# -----


@T.prim_func
def still_needed(A: T.Buffer((18,), "float32"), C: T.Buffer((12,), "float32")):
    B = T.alloc_buffer((18,), "float32")
    for i in range(16):
        for ax0 in range(3):
            with T.block("B"):
                vi = T.axis.spatial(18, i + ax0)
                B[vi] = A[vi]
        # expected-error @below {{B[0] shares its memory, 3 elements in dimension 0, with another when it is read at i=4}}
        with T.block("C"):
            T.where(4 <= i)
            vi = T.axis.spatial(12, i - 4)
            C[vi] = B[vi]


# -----


@T.prim_func
def another_value_later(A: T.Buffer((18,), "float32"), C: T.Buffer((16,), "float32")):
    B = T.alloc_buffer((18,), "float32")
    E = T.alloc_buffer((1,), "float32")
    for i in range(16):
        # expected-error @below {{writes an element of E in several iterations, so its value depends on when it is read}}
        with T.block("E"):
            vi = T.axis.opaque(16, i)
            E[0] = A[vi]
        for ax0 in range(3):
            with T.block("B"):
                vi = T.axis.spatial(18, i + ax0)
                B[vi] = A[vi] * E[0]
        with T.block("C"):
            vi = T.axis.spatial(16, i)
            C[vi] = B[vi] + B[vi + 2]


# -----


@T.prim_func
def no_overlap(A: T.Buffer((16,), "float32"), C: T.Buffer((16,), "float32")):
    B = T.alloc_buffer((16,), "float32")
    for i in range(16):
        # expected-error @below {{no dimension of the part of B that one iteration of loop i needs moves by a constant step}}
        with T.block("B"):
            vi = T.axis.spatial(16, i)
            B[vi] = A[vi]
        with T.block("C"):
            vi = T.axis.spatial(16, i)
            C[vi] = B[vi]


# -----


@T.prim_func
def no_loop(A: T.Buffer((16,), "float32"), C: T.Buffer((16,), "float32")):
    B = T.alloc_buffer((16,), "float32")
    for i in range(16):
        # expected-error @below {{block "B" and its consumers do not stand under a common loop}}
        with T.block("B"):
            vi = T.axis.spatial(16, i)
            B[vi] = A[vi]
    for i in range(16):
        with T.block("C"):
            vi = T.axis.spatial(16, i)
            C[vi] = B[vi]


# -----


@T.prim_func
def output(A: T.Buffer((16,), "float32"), B: T.Buffer((16,), "float32")):
    for i in range(16):
        # expected-error @below {{block "B" writes B, which lives outside its scope; only an allocated buffer can roll}}
        with T.block("B"):
            vi = T.axis.spatial(16, i)
            B[vi] = A[vi]


# -----


@T.prim_func
def two_writers(A: T.Buffer((18,), "float32"), C: T.Buffer((16,), "float32")):
    B = T.alloc_buffer((18,), "float32")
    for i in range(16):
        for ax0 in range(3):
            with T.block("B"):
                vi = T.axis.spatial(18, i + ax0)
                B[vi] = A[vi]
        # expected-error @below {{block "D" also uses B, other than to read what block "B" wrote before it}}
        with T.block("D"):
            vi = T.axis.opaque(16, i)
            B[vi] = A[vi + 1]
        with T.block("C"):
            vi = T.axis.spatial(16, i)
            C[vi] = B[vi] + B[vi + 2]
