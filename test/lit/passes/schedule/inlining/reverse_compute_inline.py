# RUN: tir-opt %s --split-input-file --verify-diagnostics --emit=script -p 'tir-reverse-compute-inline{block=B}' | FileCheck %s
# RUN: not tir-opt %S/../Inputs/init_block.py --split-input-file -p 'tir-reverse-compute-inline{block=#4}' 2>&1 | FileCheck %s --check-prefix=INIT
# RUN: not tir-opt %S/../Inputs/alloc_between_copies.mlir -p 'tir-reverse-compute-inline{block=B}' 2>&1 | FileCheck %s --check-prefix=ALLOC


# ALLOC: error: {{.*}}B is allocated after block "Y"
# INIT: error: {{.*}}block "Y" is in an init region; only blocks of a body can be merged
# CHECK-LABEL: def transposed(
@T.prim_func
def transposed(A: T.Buffer((4, 8), "float32"), B: T.Buffer((8, 4), "float32")):
    # CHECK-NOT: T.alloc_buffer
    # CHECK: with T.block("Y"):
    # CHECK-NOT: T.block("B")
    # CHECK: B[vj, vi] = A[vi, vj] + T.float32(1.0)
    Y = T.alloc_buffer((4, 8), "float32")
    for i, j in T.grid(4, 8):
        with T.block("Y"):
            vi, vj = T.axis.remap("SS", [i, j])
            Y[vi, vj] = A[vi, vj]
    for i, j in T.grid(8, 4):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = Y[vj, vi] + T.float32(1)


# -----


@T.prim_func
def also_elsewhere(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32"), C: T.Buffer((8,), "float32")):
    Y = T.alloc_buffer((8,), "float32")
    for i in range(8):
        with T.block("Y"):
            vi = T.axis.spatial(8, i)
            Y[vi] = A[vi]
    for i in range(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = Y[vi]
    for i in range(8):
        # expected-error @below {{Y is also read outside block "B", so it must remain}}
        with T.block("C"):
            vi = T.axis.spatial(8, i)
            C[vi] = Y[vi]


# -----


@T.prim_func
def several_writers(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
    Y = T.alloc_buffer((8,), "float32")
    for i in range(8):
        with T.block("P"):
            vi = T.axis.spatial(8, i)
            Y[vi] = A[vi]
    for i in range(4):
        with T.block("Q"):
            vi = T.axis.spatial(4, i)
            Y[vi] = T.float32(0)
    for i in range(8):
        # expected-error @below {{Y is written by 2 blocks of the scope; merging needs a single producer}}
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = Y[vi]


# -----


@T.prim_func
def output(A: T.Buffer((8,), "float32"), Y: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
    for i in range(8):
        # expected-error @below {{block "Y" computes Y, which is visible outside its scope; an output block must store it}}
        with T.block("Y"):
            vi = T.axis.spatial(8, i)
            Y[vi] = A[vi]
    for i in range(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = Y[vi]


# -----


# Z is computed before the nest of Y; B is merged into the last one.
# CHECK-LABEL: def two_inputs(
# CHECK: with T.block("Z"):
# CHECK: with T.block("Y"):
# CHECK-NOT: with T.block("B"):
# CHECK: B[vi] = A[vi] + Z[7 - vi]
@T.prim_func
def two_inputs(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
    Y = T.alloc_buffer((8,), "float32")
    Z = T.alloc_buffer((8,), "float32")
    for i in range(8):
        with T.block("Z"):
            vi = T.axis.spatial(8, i)
            Z[vi] = A[vi] * T.float32(2)
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
def of_one_producer(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
    Y = T.alloc_buffer((8,), "float32")
    Z = T.alloc_buffer((8,), "float32")
    for i in range(8):
        with T.block("Y"):
            vi = T.axis.spatial(8, i)
            Y[vi] = A[vi]
            Z[vi] = A[vi] * T.float32(2)
    for i in range(8):
        # expected-error @below {{block "B" must read exactly one buffer that the last of its producers computes; it reads Y, Z}}
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = Y[vi] + Z[vi]


# -----


@T.prim_func
def in_one_nest(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
    Y = T.alloc_buffer((8,), "float32")
    Z = T.alloc_buffer((8,), "float32")
    for i in range(8):
        # expected-error @below {{Z, which block "B" reads, is written between block "Y" and it}}
        with T.block("Z"):
            vi = T.axis.spatial(8, i)
            Z[vi] = A[vi] * T.float32(2)
        with T.block("Y"):
            vi = T.axis.spatial(8, i)
            Y[vi] = A[vi]
    for i in range(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = Y[vi] + Z[7 - vi]


# -----


@T.prim_func
def guard(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
    Y = T.alloc_buffer((8,), "float32")
    for i in range(8):
        with T.block("Y"):
            vi = T.axis.spatial(8, i)
            Y[vi] = A[vi]
    for i in range(9):
        # expected-error @below {{block "B" has a guard (T.where), which the merged block would lose: split by factors that divide the extent}}
        with T.block("B"):
            T.where(i < 8)
            vi = T.axis.spatial(8, i)
            B[vi] = Y[vi]


# -----


@T.prim_func
def gathered(A: T.Buffer((8,), "float32"), X: T.Buffer((8,), "int32"), B: T.Buffer((8,), "float32")):
    Y = T.alloc_buffer((8,), "float32")
    for i in range(8):
        with T.block("Y"):
            vi = T.axis.spatial(8, i)
            Y[vi] = A[vi]
    for i in range(8):
        # expected-error @below {{Y is used by memref.load; merging needs loads at affine indices only}}
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = Y[X[vi]]


# -----


@T.prim_func(check_well_formed=False)
def in_another_branch(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32"), n: T.int32):
    Y = T.alloc_buffer((8,), "float32")
    if n > 3:
        for i in range(8):
            with T.block("Y"):
                vi = T.axis.spatial(8, i)
                Y[vi] = A[vi]
    else:
        for i in range(8):
            # expected-error @below {{block "B" does not run after block "Y" in each iteration of their common loops}}
            with T.block("B"):
                vi = T.axis.spatial(8, i)
                B[vi] = Y[vi]


# -----


@T.prim_func
def condition(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32"), X: T.Buffer((1,), "float32")):
    Y = T.alloc_buffer((8,), "float32")
    for i in range(8):
        with T.block("Y"):
            vi = T.axis.spatial(8, i)
            Y[vi] = A[vi]
    if X[0] > T.float32(0):
        for i in range(8):
            # expected-error @below {{block "B" runs only where a condition on data holds, and this step could run it elsewhere}}
            with T.block("B"):
                vi = T.axis.spatial(8, i)
                B[vi] = Y[vi]


# -----


@T.prim_func(check_well_formed=False)
def other_iterations(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
    Y = T.alloc_buffer((8,), "float32")
    for i in range(8):
        with T.block("Y"):
            vi = T.axis.spatial(8, i)
            Y[vi] = A[vi]
        # expected-error @below {{block "B" needs Y[7], which block "Y" has not computed in the same iteration of their common loops}}
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = Y[7 - vi]


# -----


@T.prim_func
def overwritten_input(A: T.Buffer((8,), "float32"), X: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
    Y = T.alloc_buffer((8,), "float32")
    for i in range(8):
        with T.block("Y"):
            vi = T.axis.spatial(8, i)
            Y[vi] = A[vi]
    # expected-error @below {{X, which block "B" reads, is written between block "Y" and it}}
    for i in range(8):
        X[i] = T.float32(0)
    for i in range(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = Y[vi] + X[vi]


# -----


@T.prim_func
def extra(A: T.Buffer((8, 4), "float32"), B: T.Buffer((8, 4), "float32")):
    Y = T.alloc_buffer((8, 4), "float32")
    for o in range(2):
        for i, j in T.grid(8, 4):
            with T.block("Y"):
                vi, vj = T.axis.remap("SS", [i, j])
                Y[vi, vj] = A[vi, vj]
        for i, j in T.grid(4, 4):
            # expected-error @below {{block "Y" also computes Y[4, 0], which block "B" does not read in the same iteration of their common loops; no guard on its iters separates the two}}
            with T.block("B"):
                vi = T.axis.spatial(8, o * 4 + i)
                vj = T.axis.spatial(4, j)
                B[vi, vj] = Y[vi, vj]


# -----


# The store of the producer is in a block of its own.
# CHECK-LABEL: def nested(
@T.prim_func
def nested(A: T.Buffer((16,), "float32"), B: T.Buffer((12,), "float32")):
    # CHECK-NOT: T.alloc_buffer
    # CHECK: with T.block("O"):
    # CHECK-NEXT: vo = T.axis.spatial(4, o)
    # CHECK: T.writes(B[vo * 4:vo * 4 + 4])
    # CHECK: with T.block("Y"):
    # CHECK: T.where(vo * 4 + i < 12)
    # CHECK: B[vo * 4 + vi] = A[vo * 4 + vi] + T.float32(1.0)
    # CHECK-NOT: T.block("B")
    Y = T.alloc_buffer((16,), "float32")
    for o in range(4):
        with T.block("O"):
            vo = T.axis.spatial(4, o)
            for i in range(4):
                with T.block("Y"):
                    vi = T.axis.spatial(4, i)
                    Y[vo * 4 + vi] = A[vo * 4 + vi]
    for i in range(12):
        with T.block("B"):
            vi = T.axis.spatial(12, i)
            B[vi] = Y[vi] + T.float32(1)


# -----


# The store is in loops inside the block.
# CHECK-LABEL: def in_loops(
@T.prim_func
def in_loops(A: T.Buffer((16,), "float32"), B: T.Buffer((16,), "float32")):
    # CHECK-NOT: alloc_buffer
    # CHECK: with T.block("O"):
    # CHECK: for k in range(4):
    # CHECK-NEXT: B[vo * 4 + k] = A[vo * 4 + k] + T.float32(1.0)
    Y = T.alloc_buffer((16,), "float32")
    for o in range(4):
        with T.block("O"):
            vo = T.axis.spatial(4, o)
            for k in range(4):
                Y[vo * 4 + k] = A[vo * 4 + k]
    for i in range(16):
        with T.block("B"):
            vi = T.axis.spatial(16, i)
            B[vi] = Y[vi] + T.float32(1)


# -----


# A pure copy: the reduction runs in the buffer of the copy.
# CHECK-LABEL: def copy_of_a_sum(
@T.prim_func
def copy_of_a_sum(A: T.Buffer((8, 4), "float32"), B: T.Buffer((8,), "float32")):
    # CHECK: with T.block("Y"):
    # CHECK: B[7 - vi] = T.float32(0.0)
    # CHECK-NEXT: B[7 - vi] = B[7 - vi] + A[vi, vk]
    Y = T.alloc_buffer((8,), "float32")
    for i, k in T.grid(8, 4):
        with T.block("Y"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                Y[vi] = T.float32(0)
            Y[vi] = Y[vi] + A[vi, vk]
    for i in range(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[7 - vi] = Y[vi]


# -----


# The consumer reads the first 60 elements, row by row.
# CHECK-LABEL: def flattened(
@T.prim_func
def flattened(A: T.Buffer((4, 16), "float32"), B: T.Buffer((60,), "float32")):
    # CHECK: with T.block("Y"):
    # CHECK: T.where(i * 16 + j < 60)
    # CHECK: B[vi * 16 + vj] = A[vi, vj]
    Y = T.alloc_buffer((4, 16), "float32")
    for i, j in T.grid(4, 16):
        with T.block("Y"):
            vi, vj = T.axis.remap("SS", [i, j])
            Y[vi, vj] = A[vi, vj]
    for i in range(60):
        with T.block("B"):
            vi = T.axis.spatial(60, i)
            B[vi] = Y[vi // 16, vi % 16]


# -----


# What is prefetched is now written in place of Y.
# CHECK-LABEL: def prefetched(
@T.prim_func
def prefetched(A: T.Buffer((8, 16), "float32"), B: T.Buffer((8, 16), "float32")):
    # CHECK: for i in T.serial(8, annotations={"prefetch": {"A": 2, "B": 1}}):
    # CHECK: B[vi, vj] = A[vi, vj] + T.float32(1.0)
    Y = T.alloc_buffer((8, 16), "float32")
    for i in T.serial(8, annotations={"prefetch": {"A": 2, "Y": 1}}):
        for j in range(16):
            with T.block("Y"):
                vi, vj = T.axis.remap("SS", [i, j])
                Y[vi, vj] = A[vi, vj]
    for i, j in T.grid(8, 16):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = Y[vi, vj] + T.float32(1)
