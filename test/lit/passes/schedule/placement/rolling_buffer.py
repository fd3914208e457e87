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
        # expected-error @below {{B[0] shares its memory (3 elements in dimension 0) with an element written before it is read at i=4}}
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
        # expected-error @below {{no dimension of the region of B that one iteration of loop i needs moves up with one loop}}
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
        # expected-error @below {{block "B" and its consumers are not under a common loop}}
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
        # expected-error @below {{block "B" writes B, which is visible outside its scope: an output block; only an allocated buffer can roll}}
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


# -----


@T.prim_func
def no_consumer(A: T.Buffer((18,), "float32"), C: T.Buffer((16,), "float32")):
    B = T.alloc_buffer((18,), "float32")
    for i in range(18):
        # expected-error @below {{block "B" has no consumer; a rolling buffer needs one}}
        with T.block("B"):
            vi = T.axis.spatial(18, i)
            B[vi] = A[vi]


# -----


@T.prim_func
def a_view(A: T.Buffer((18,), "float32"), C: T.Buffer((16,), "float32")):
    B = T.alloc_buffer((18,), "float32")
    for i in range(16):
        for ax0 in range(3):
            with T.block("B"):
                vi = T.axis.spatial(18, i + ax0)
                B[vi] = A[vi]
        # expected-error @below {{B is also used by memref.subview; only plain loads and stores can use a rolling buffer}}
        with T.block("C"):
            vi = T.axis.spatial(16, i)
            V = T.match_buffer(B[vi:vi + 3], (3,), offset_factor=1)
            C[vi] = V[0] + V[2]


# -----


@T.prim_func
def deeper(A: T.Buffer((18,), "float32"), C: T.Buffer((16,), "float32"), D: T.Buffer((16,), "float32")):
    B = T.alloc_buffer((18,), "float32")
    for i in range(16):
        for j in range(1):
            for ax0 in range(3):
                with T.block("B"):
                    vi = T.axis.spatial(18, i + j + ax0)
                    B[vi] = A[vi]
            # expected-error @below {{blocks "B" and "C" are not adjacent in the loop around all uses of B}}
            with T.block("C"):
                vi = T.axis.spatial(16, i + j)
                C[vi] = B[vi] + B[vi + 2]
        with T.block("D"):
            vi = T.axis.spatial(16, i)
            D[vi] = B[vi] + B[vi + 2]


# -----


@T.prim_func
def updated_input(A: T.Buffer((18,), "float32"), C: T.Buffer((16,), "float32")):
    B = T.alloc_buffer((18,), "float32")
    for i in range(16):
        with T.block("A"):
            vi = T.axis.opaque(16, i)
            A[vi] = A[vi] + T.float32(1)
        for ax0 in range(3):
            # expected-error @below {{A, which the block reads, is not written by one block that overwrites it; recomputing an element may give another value than keeping it}}
            with T.block("B"):
                vi = T.axis.spatial(18, i + ax0)
                B[vi] = A[vi]
        with T.block("C"):
            vi = T.axis.spatial(16, i)
            C[vi] = B[vi] + B[vi + 2]


# -----


@T.prim_func
# expected-error @below {{a write has a condition or an index that isl cannot express}}
def conditional(A: T.Buffer((18,), "float32"), C: T.Buffer((16,), "float32")):
    B = T.alloc_buffer((18,), "float32")
    for i in range(16):
        for ax0 in range(3):
            with T.block("B"):
                vi = T.axis.spatial(18, i + ax0)
                if A[vi] > T.float32(0):
                    B[vi] = A[vi]
        with T.block("C"):
            vi = T.axis.spatial(16, i)
            C[vi] = B[vi] + B[vi + 2]


# -----


@T.prim_func
def from_a_size(A: T.Buffer((18,), "float32"), C: T.Buffer((16,), "float32"), m: T.handle):
    n = T.int32()
    M = T.match_buffer(m, (n,), "float32")
    B = T.alloc_buffer((18,), "float32")
    for i in range(16):
        for ax0 in range(n, n + 3):
            # expected-error @below {{the bounds of the loops of block "B" are not constant, so its guard is not affine}}
            with T.block("B"):
                vi = T.axis.spatial(18, i + ax0 - n)
                B[vi] = A[vi]
        with T.block("C"):
            vi = T.axis.spatial(16, i)
            C[vi] = B[vi] + B[vi + 2]


# -----


# The region moves by a quotient: two elements in each four iterations.
# CHECK-LABEL: def by_a_quotient(
@T.prim_func
def by_a_quotient(A: T.Buffer((40,), "float32"), C: T.Buffer((64,), "float32")):
    # CHECK: B = T.alloc_buffer((6,))
    # CHECK: T.where(i_0 < 1 or ax0 >= 4)
    # CHECK: B[vi % 6] = A[vi]
    # CHECK: C[vi] = B[vi // 2 % 6] + B[(vi // 2 + 4) % 6]
    B = T.alloc_buffer((40,), "float32")
    for i_0 in range(16):
        for ax0 in range(6):
            with T.block("B"):
                vi = T.axis.spatial(40, i_0 * 2 + ax0)
                B[vi] = A[vi]
        for i_1 in range(4):
            with T.block("C"):
                vi = T.axis.spatial(64, i_0 * 4 + i_1)
                C[vi] = B[vi // 2] + B[vi // 2 + 4]
