# RUN: tir-opt %s --split-input-file --verify-diagnostics --emit=script -p 'tir-pad-einsum{block=B padding=8,4}' | FileCheck %s
# RUN: tir-opt %S/../Inputs/left_unpadded.py --emit=script -p 'tir-pad-einsum{block=B padding=8,4}' 2>&1 | FileCheck %S/../Inputs/left_unpadded.py
# RUN: not tir-opt %S/../Inputs/init_block.py --split-input-file -p 'tir-pad-einsum{block=#4 padding=4}' 2>&1 | FileCheck %s --check-prefix=INIT


# INIT: error: {{.*}}block "Y" is in an init region
# CHECK-LABEL: def total(
@T.prim_func
def total(A: T.Buffer((13, 3), "float32"), B: T.Buffer((13,), "float32")):
    # CHECK: A_pad = T.alloc_buffer((16, 4))
    # CHECK: B_pad = T.alloc_buffer((16,))
    # CHECK: for i0, i1 in T.grid(16, 4):
    # CHECK-NEXT: with T.block("A_pad"):
    # CHECK: A_pad[v0, v1] = T.if_then_else(v0 < 13 and v1 < 3, A[v0, v1], T.float32(0.0))
    # CHECK: for i, k in T.grid(16, 4):
    # CHECK: B_pad[vi] = B_pad[vi] + A_pad[vi, vk]
    # CHECK: for i0 in range(13):
    # CHECK: B[v0] = B_pad[v0]
    for i, k in T.grid(13, 3):
        with T.block("B"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                B[vi] = T.float32(0)
            B[vi] = B[vi] + A[vi, vk]


# -----


@T.prim_func
def greatest(A: T.Buffer((13, 3), "float32"), B: T.Buffer((13,), "float32")):
    for i, k in T.grid(13, 3):
        # expected-error @below {{iter vk of block "B" is padded, but the 0 that is combined there changes a max (for -1: it would become 0); only a sum can be padded with zeros}}
        with T.block("B"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                B[vi] = T.min_value("float32")
            B[vi] = T.max(B[vi], A[vi, vk])


# -----


@T.prim_func
def exponential(A: T.Buffer((13, 3), "float32"), B: T.Buffer((13,), "float32")):
    for i, k in T.grid(13, 3):
        # expected-error @below {{beyond the old end of iter vk of block "B", the added terms are not known to be 0; only products and sums of padded inputs are}}
        with T.block("B"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                B[vi] = T.float32(0)
            B[vi] = B[vi] + T.exp(A[vi, vk])


# -----


@T.prim_func
def window(A: T.Buffer((16, 3), "float32"), B: T.Buffer((13,), "float32")):
    for i, k in T.grid(13, 3):
        # expected-error @below {{block "B" accesses A at an index other than iters and constants; it is not an einsum}}
        with T.block("B"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                B[vi] = T.float32(0)
            B[vi] = B[vi] + A[vi + vk, vk]


# -----


@T.prim_func
def three(A: T.Buffer((4, 4, 4), "float32"), B: T.Buffer((4, 4, 4), "float32")):
    for i, j, k in T.grid(4, 4, 4):
        # expected-error @below {{padding has 2 numbers, block "B" has 3 iters; give one for each}}
        with T.block("B"):
            vi, vj, vk = T.axis.remap("SSS", [i, j, k])
            B[vi, vj, vk] = A[vi, vj, vk]


# -----


@T.prim_func
def shared(A: T.Buffer((13, 3), "float32"), B: T.Buffer((13, 3), "float32"), C: T.Buffer((13,), "float32")):
    # expected-error @below {{the padding adds iterations to loop i, which block "B" shares with a statement outside any block; a guard cannot protect it}}
    for i in range(13):
        C[i] = A[i, 1]
        for j in range(3):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj]


# -----


@T.prim_func
def division(A: T.Buffer((13, 3), "int32"), B: T.Buffer((13, 3), "int32")):
    for i, j in T.grid(13, 3):
        # expected-error @below {{block "B" computes arith.floordivsi, which may trap on the zeros of the padding}}
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = 7 // A[vi, vj]


# -----


@T.prim_func
def a_start(A: T.Buffer((13,), "float32"), B: T.Buffer((13,), "float32")):
    for i in range(1, 13):
        # expected-error @below {{iter vi does not start at 0; only the end can be padded}}
        with T.block("B"):
            vi = T.axis.spatial((1, 13), i)
            vk = T.axis.spatial(1, 0)
            B[vi] = A[vi]


# -----


@T.prim_func
def two_places(A: T.Buffer((13, 15), "float32"), B: T.Buffer((13,), "float32")):
    for i, k in T.grid(13, 13):
        # expected-error @below {{block "B" accesses A at two different indices; it is not an einsum}}
        with T.block("B"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                B[vi] = T.float32(0)
            B[vi] = B[vi] + A[vi, vk] * A[vk, vi]


# -----


@T.prim_func
def a_loop_of_two(A: T.Buffer((1, 1), "float32"), B: T.Buffer((1, 1), "float32")):
    # expected-error @below {{loop i drives several iters (vi, vj); each needs a loop of its own}}
    for i in range(1):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, i])
            B[vi, vj] = A[vi, vj]


# -----


@T.prim_func
def a_short_loop(A: T.Buffer((9,), "float32"), D: T.Buffer((9,), "float32")):
    C = T.alloc_buffer((9, 1), "float32")
    # expected-error @below {{the range of loop i is not the domain of iter vi, so it cannot grow with it}}
    for i, j in T.grid(5, 1):
        with T.block("B"):
            vi = T.axis.spatial(9, i)
            vj = T.axis.spatial(1, j)
            C[vi, vj] = A[vi]
    for i in range(9):
        with T.block("D"):
            vi = T.axis.spatial(9, i)
            D[vi] = T.if_then_else(vi < 5, C[vi, 0], A[vi])


# -----


@T.prim_func
def a_second_time(A: T.Buffer((13,), "float32"), B: T.Buffer((13,), "float32")):
    for i, j in T.grid(1, 13):
        # expected-error @below {{spatial iter vi of block "B" does not index the output; padded, several iterations would write one element}}
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vj] = A[vj]


# -----


@T.prim_func
def promised(A: T.Buffer((13, 15), "float32"), B: T.Buffer((13,), "float32")):
    for i, j in T.grid(13, 15):
        # expected-error @below {{block "B" computes llvm.intr.assume, which may trap on the zeros of the padding}}
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            T.assume(A[vi, vj] > T.float32(0))


# -----


# The outermost loop of an iter grows.
# CHECK-LABEL: def split_before(
@T.prim_func
def split_before(A: T.Buffer((12, 15), "float32"), B: T.Buffer((12,), "float32")):
    # CHECK: A_pad = T.alloc_buffer((16, 16))
    # CHECK: for i_0, i_1, j in T.grid(4, 4, 16):
    # CHECK-NEXT: with T.block("B"):
    # CHECK-NEXT: vi = T.axis.spatial(16, i_0 * 4 + i_1)
    # CHECK-NEXT: vj = T.axis.reduce(16, j)
    for i_0, i_1, j in T.grid(3, 4, 15):
        with T.block("B"):
            vi = T.axis.spatial(12, i_0 * 4 + i_1)
            vj = T.axis.reduce(15, j)
            with T.init():
                B[vi] = T.float32(0)
            B[vi] = B[vi] + A[vi, vj]


# -----


# Another block starts the sum; the copies are in the loop that both are in.
# CHECK-LABEL: def started_before(
@T.prim_func
def started_before(A: T.Buffer((8, 13), "float32"), B: T.Buffer((8, 13), "float32")):
    # CHECK: B_pad = T.alloc_buffer((8, 16))
    # CHECK-NEXT: for o in range(8):
    # CHECK: with T.block("Z"):
    # CHECK: with T.block("A_pad"):
    # CHECK: for j in range(16):
    # CHECK-NEXT: with T.block("B"):
    # CHECK: B_pad[vo, vj] = A_pad[vo, vj] * T.float32(2.0)
    # CHECK: with T.block("B_pad"):
    for o in range(8):
        for j in range(13):
            with T.block("Z"):
                vo, vj = T.axis.remap("SS", [o, j])
                B[vo, vj] = T.float32(0)
        for j in range(13):
            with T.block("B"):
                vo, vj = T.axis.remap("SS", [o, j])
                B[vo, vj] = A[vo, vj] * T.float32(2)
