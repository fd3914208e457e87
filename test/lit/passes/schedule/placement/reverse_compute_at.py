# RUN: tir-opt %s --split-input-file --verify-diagnostics --emit=script -p 'tir-reverse-compute-at{block=B loop=Y:i}' | FileCheck %s
# RUN: tir-opt %S/../Inputs/partial_sums.py --split-input-file --emit=script -p 'tir-reverse-compute-at{block=B loop=Y:i}' 2>&1 | FileCheck %S/../Inputs/partial_sums.py
# RUN: not tir-opt %S/../Inputs/init_block.py --split-input-file -p 'tir-reverse-compute-at{block=#4 loop=#5}' 2>&1 | FileCheck %s --check-prefix=INIT
# RUN: tir-opt %S/../Inputs/alloc_between_copies.mlir -p 'tir-reverse-compute-at{block=B loop=Y:i}' | FileCheck %s --check-prefix=ALLOC

# The buffer of the block that moves is there before the loop.
# ALLOC: memref.alloc() {{.*}}"B"
# ALLOC: affine.for

# INIT: error: {{.*}}block "Y" is in an init region; only blocks of a body can move
# CHECK-LABEL: def rows(
@T.prim_func
def rows(A: T.Buffer((4, 16), "float32"), B: T.Buffer((4, 16), "float32")):
    Y = T.alloc_buffer((4, 16), "float32")
    # CHECK: for i in range(4):
    # CHECK-NEXT: for j in range(16):
    # CHECK-NEXT: with T.block("Y"):
    # CHECK: for ax0 in range(16):
    # CHECK-NEXT: with T.block("B"):
    # CHECK-NEXT: vi, vj = T.axis.remap("SS", [i, ax0])
    for i, j in T.grid(4, 16):
        with T.block("Y"):
            vi, vj = T.axis.remap("SS", [i, j])
            Y[vi, vj] = A[vi, vj]
    for k, l in T.grid(4, 16):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [k, l])
            B[vi, vj] = Y[vi, vj]


# -----


# A partial sum may be 0.
@T.prim_func
def unfinished(A: T.Buffer((4, 16), "int32"), B: T.Buffer((16,), "int32")):
    Y = T.alloc_buffer((16,), "int32")
    # expected-error @below {{under loop i the reduction of block "Y" is not finished: it runs over iter vi; block "B" computes arith.floordivsi, which may trap or go out of bounds on partial sums; choose a loop outside i}}
    for i, j in T.grid(4, 16):
        with T.block("Y"):
            vi, vj = T.axis.remap("RS", [i, j])
            with T.init():
                Y[vj] = 0
            Y[vj] = Y[vj] + A[vi, vj]
    for k in range(16):
        with T.block("B"):
            vk = T.axis.spatial(16, k)
            B[vk] = 100 // Y[vk]


# -----


# A block that no other feeds runs in full in each iteration.
# CHECK-LABEL: def unfed(
# CHECK: for i in range(8):
# CHECK-NEXT: with T.block("Y"):
# CHECK: for ax0 in range(8):
# CHECK-NEXT: with T.block("B"):
@T.prim_func
def unfed(A: T.Buffer((8,), "float32"), Y: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
    for i in range(8):
        with T.block("Y"):
            vi = T.axis.spatial(8, i)
            Y[vi] = A[vi]
    for k in range(8):
        with T.block("B"):
            vk = T.axis.spatial(8, k)
            B[vk] = A[vk]


# -----


@T.prim_func
def read_before(A: T.Buffer((8,), "float32"), Y: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32"), C: T.Buffer((8,), "float32")):
    for k in range(8):
        with T.block("B"):
            vk = T.axis.spatial(8, k)
            B[vk] = A[vk]
    for k in range(8):
        # expected-error @below {{the consumer "C" of block "B" runs before loop i, so it would read values that are not computed yet}}
        with T.block("C"):
            vk = T.axis.spatial(8, k)
            C[vk] = B[vk]
    for i in range(8):
        with T.block("Y"):
            vi = T.axis.spatial(8, i)
            Y[vi] = A[vi]


# -----


# Z is complete before the nest of Y.
# CHECK-LABEL: def elsewhere(
# CHECK: with T.block("Z"):
# CHECK: for i in range(8):
# CHECK-NEXT: with T.block("Y"):
# CHECK: with T.block("B"):
@T.prim_func
def elsewhere(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
    Y = T.alloc_buffer((8,), "float32")
    Z = T.alloc_buffer((8,), "float32")
    for i in range(8):
        with T.block("Z"):
            vi = T.axis.spatial(8, i)
            Z[vi] = A[vi]
    for i in range(8):
        with T.block("Y"):
            vi = T.axis.spatial(8, i)
            Y[vi] = A[vi]
    for i in range(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = Y[vi] + Z[7 - vi]


# -----


@T.prim_func
def after(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
    Y = T.alloc_buffer((8,), "float32")
    Z = T.alloc_buffer((8,), "float32")
    for i in range(8):
        with T.block("Y"):
            vi = T.axis.spatial(8, i)
            Y[vi] = A[vi]
    for i in range(8):
        # expected-error @below {{the producer "Z" of block "B" is not under loop i; reverse_compute_at requires all the producer(s) under the loop, or before the nest around it}}
        with T.block("Z"):
            vi = T.axis.spatial(8, i)
            Z[vi] = A[vi]
    for i in range(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = Y[vi] + Z[vi]


# -----


# Z is in the nest, but not under loop i: a later iteration writes what an earlier one would read.
@T.prim_func
def beside(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
    Y = T.alloc_buffer((8,), "float32")
    Z = T.alloc_buffer((8,), "float32")
    for j in range(8):
        # expected-error @below {{the producer "Z" of block "B" is not under loop i}}
        with T.block("Z"):
            vj = T.axis.spatial(8, j)
            Z[vj] = A[vj]
        for i in range(1):
            with T.block("Y"):
                vi = T.axis.spatial(8, j + i)
                Y[vi] = A[vi]
    for i in range(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = Y[vi] + Z[7 - vi]


# -----


@T.prim_func
def used_before(A: T.Buffer((8,), "float32"), X: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
    Y = T.alloc_buffer((8,), "float32")
    for i in range(8):
        with T.block("Y"):
            vi = T.axis.spatial(8, i)
            Y[vi] = A[vi]
    for i in range(8):
        # expected-error @below {{B is also used by block "X", which would observe that block "B" has moved}}
        with T.block("X"):
            vi = T.axis.spatial(8, i)
            X[vi] = B[vi]
    for i in range(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = Y[vi]


# -----


@T.prim_func
def not_ready(A: T.Buffer((8,), "float32"), B: T.Buffer((7,), "float32")):
    Y = T.alloc_buffer((8,), "float32")
    Z = T.alloc_buffer((8,), "float32")
    # expected-error @below {{block "B" reads Y[1], which is not written yet at i = 0; choose an outer loop}}
    for i in range(8):
        with T.block("Z"):
            vi = T.axis.spatial(8, i)
            Z[7 - vi] = A[vi]
        with T.block("Y"):
            vi = T.axis.spatial(8, i)
            Y[vi] = A[vi]
    for i in range(7):
        with T.block("B"):
            vi = T.axis.spatial(7, i)
            B[vi] = Y[vi] + Z[vi]


# -----


@T.prim_func
def a_falling_order(A: T.Buffer((8,), "float32"), C: T.Buffer((1,), "float32")):
    Y = T.alloc_buffer((8,), "float32")
    # expected-error @below {{under loop i the reduction of block "B" would not run over vi in increasing order: its init would not come first; choose an outer loop}}
    for i in range(8):
        with T.block("Y"):
            vi = T.axis.spatial(8, i)
            Y[7 - vi] = A[vi]
    for i in range(8):
        with T.block("B"):
            vi = T.axis.reduce(8, i)
            with T.init():
                C[0] = T.float32(0)
            C[0] = C[0] + Y[vi]


# -----


# Loop o is around both places, and runs row o of the consumer; each iteration of i adds the part that is there.
# CHECK-LABEL: def part_of_common_loops(
@T.prim_func
def part_of_common_loops(A: T.Buffer((2, 9), "float32"), B: T.Buffer((2,), "float32")):
    # CHECK: for o, i in T.grid(2, 9):
    # CHECK-NEXT: for h in range(2):
    # CHECK-NEXT: with T.block("Y"):
    # CHECK: with T.block("B"):
    # CHECK-NEXT: vo, vk = T.axis.remap("SR", [o, i])
    Y = T.alloc_buffer((2, 9), "float32")
    for o in range(2):
        for i, h in T.grid(9, 2):
            with T.block("Y"):
                vh, vk = T.axis.remap("SS", [h, i])
                Y[vh, vk] = A[vh, vk]
        for k in range(9):
            with T.block("B"):
                vo, vk = T.axis.remap("SR", [o, k])
                with T.init():
                    B[vo] = T.float32(0)
                B[vo] = B[vo] + Y[vo, vk]


# -----


# Block R reads B after all of block O: it does not see the move.
# CHECK-LABEL: def read_outside(
@T.prim_func
def read_outside(A: T.Buffer((4, 8), "float32"), R: T.Buffer((4, 8), "float32")):
    # CHECK: with T.block("O"):
    # CHECK: for i in range(8):
    # CHECK-NEXT: with T.block("Y"):
    # CHECK: with T.block("B"):
    # CHECK-NEXT: vi = T.axis.spatial(8, i)
    B = T.alloc_buffer((4, 8), "float32")
    for o in range(4):
        with T.block("O"):
            vo = T.axis.spatial(4, o)
            Y = T.alloc_buffer((8,), "float32")
            for i in range(8):
                with T.block("Y"):
                    vi = T.axis.spatial(8, i)
                    Y[vi] = A[vo, vi]
            for j in range(8):
                with T.block("B"):
                    vi = T.axis.spatial(8, j)
                    B[vo, vi] = Y[vi] + T.float32(1)
    for o, j in T.grid(4, 8):
        with T.block("R"):
            vo, vj = T.axis.remap("SS", [o, j])
            R[vo, vj] = B[vo, vj]


# -----


# A recurrence along vj runs in full where its row is ready.
# CHECK-LABEL: def sums_of_rows(
@T.prim_func
def sums_of_rows(A: T.Buffer((6, 7), "float32"), B: T.Buffer((6, 7), "float32")):
    # CHECK: for i in range(6):
    # CHECK-NEXT: for j in range(7):
    # CHECK-NEXT: with T.block("Y"):
    # CHECK: for ax0 in range(7):
    # CHECK-NEXT: with T.block("B"):
    # CHECK-NEXT: vi = T.axis.spatial(6, i)
    # CHECK-NEXT: vj = T.axis.opaque(7, ax0)
    Y = T.alloc_buffer((6, 7), "float32")
    for i, j in T.grid(6, 7):
        with T.block("Y"):
            vi, vj = T.axis.remap("SS", [i, j])
            Y[vi, vj] = A[vi, vj]
    for i, j in T.grid(6, 7):
        with T.block("B"):
            vi, vj = T.axis.remap("SO", [i, j])
            B[vi, vj] = T.if_then_else(vj == 0, T.float32(0), B[vi, vj - 1]) + Y[vi, vj]


# -----


# Y of the iteration before is read: out of loop j B would read zeros.
@T.prim_func
def earlier_iterations(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
    Y = T.alloc_buffer((9,), "float32")
    for i in range(9):
        with T.block("Y"):
            vi = T.axis.spatial(9, i)
            Y[vi] = T.float32(0)
    for j in range(8):
        with T.block("B"):
            vi = T.axis.spatial(8, j)
            B[vi] = Y[vi]
        # expected-error @below {{block "W" follows block "B" in loop j, whose later iterations read what it writes to Y; under loop i they would not; choose a loop in loop j that ends before block "W"}}
        with T.block("W"):
            vi = T.axis.spatial(8, j)
            Y[vi + 1] = A[vi]
