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
