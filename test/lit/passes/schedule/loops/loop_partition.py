# RUN: tir-opt %s --split-input-file --verify-diagnostics --emit=script -p 'tir-loop-partition{loop=j factors=5,none}' | FileCheck %s
# RUN: not tir-opt %s --split-input-file -p 'tir-loop-partition{loop=j factors=none,none}' 2>&1 | FileCheck %s --check-prefix=NONES
# RUN: not tir-opt %s --split-input-file -p 'tir-loop-partition{loop=j factors=0}' 2>&1 | FileCheck %s --check-prefix=ZERO
# RUN: not tir-opt %s --split-input-file -p 'tir-loop-partition{loop=j factors=16}' 2>&1 | FileCheck %s --check-prefix=ALL
# RUN: not tir-opt %s --split-input-file -p 'tir-loop-partition{loop=j factors=[]}' 2>&1 | FileCheck %s --check-prefix=EMPTY


# EMPTY: loop_partition needs the length of at least one segment
# NONES: one segment can take the rest of the range; 2 of
# ZERO: the length 0 of a segment is not positive
# ALL: take 16 of the 16 iterations of loop j; at least one must be left
# Iters bound to the loop itself are narrowed, regions of plain iters cover their domains.
# CHECK-LABEL: def segments(
@T.prim_func
def segments(A: T.Buffer((4, 16), "float32"), B: T.Buffer((4, 16), "float32")):
    # CHECK: for i in range(4):
    # CHECK-NEXT: with T.block("B_j_common"):
    # CHECK-NEXT: T.reads()
    # CHECK-NEXT: T.writes()
    # CHECK-NEXT: with T.block("B_j0_partition"):
    # CHECK: for j0 in range(5):
    # CHECK-NEXT: with T.block("B_j0"):
    # CHECK-NEXT: vi, vj = T.axis.remap("SS", [i, j0])
    # CHECK-NEXT: T.reads(A[0:4, 0:5])
    # CHECK-NEXT: T.writes(B[0:4, 0:5])
    # CHECK: with T.block("B_j1_partition"):
    # CHECK: for j1 in range(5, 16):
    # CHECK-NEXT: with T.block("B_j1"):
    # CHECK-NEXT: vi, vj = T.axis.remap("SS", [i, j1])
    # CHECK-NEXT: T.reads(A[0:4, 5:16])
    for i, j in T.grid(4, 16):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj]


# -----


# What only a part of a binding is keeps its domain.
# CHECK-LABEL: def part_of_a_binding(
@T.prim_func
def part_of_a_binding(A: T.Buffer((64,), "float32"), B: T.Buffer((64,), "float32")):
    # CHECK: for j1 in range(5, 16):
    # CHECK: v = T.axis.spatial(64, i * 16 + j1)
    # CHECK-NEXT: T.reads(A[v])
    for i, j in T.grid(4, 16):
        with T.block("B"):
            v = T.axis.spatial(64, i * 16 + j)
            B[v] = A[v]


# -----


@T.prim_func
def a_sum(A: T.Buffer((4, 16), "float32"), B: T.Buffer((4,), "float32")):
    for i, j in T.grid(4, 16):
        # expected-error @below {{iter vj of block "B" reduces over loop j, and each segment would restart the reduction}}
        with T.block("B"):
            vi, vj = T.axis.remap("SR", [i, j])
            with T.init():
                B[vi] = T.float32(0)
            B[vi] = B[vi] + A[vi, vj]


# -----


@T.prim_func
def symbolic(a: T.handle):
    n = T.int32()
    A = T.match_buffer(a, (n,), "float32")
    # expected-error @below {{loop j has symbolic bounds; segments need constant ones}}
    for j in range(n):
        with T.block("A"):
            v = T.axis.spatial(n, j)
            A[v] = T.float32(0)


# -----


@T.prim_func
def annotated(A: T.Buffer((16,), "float32")):
    # expected-error @below {{loop j has annotations ['x'], which loop_partition would drop}}
    for j in T.serial(16, annotations={"x": 1}):
        with T.block("A"):
            v = T.axis.spatial(16, j)
            A[v] = T.float32(0)


# -----


@T.prim_func
def no_block(A: T.Buffer((16,), "float32")):
    # expected-error @below {{loop j contains no block; loop_partition names the segments after one}}
    for j in range(16):
        A[j] = T.float32(0)


# -----


@T.prim_func
def beside(A: T.Buffer((16,), "float32"), B: T.Buffer((16,), "float32")):
    # expected-error @below {{B is accessed in loop j outside any block, and the blocks that hold the}}
    for j in range(16):
        B[j] = T.float32(0)
        with T.block("A"):
            v = T.axis.spatial(16, j)
            A[v] = B[v]
