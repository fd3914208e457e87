# RUN: tir-opt %s --split-input-file --verify-diagnostics --emit=script -p 'tir-compute-at{block=Y loop=B:i}' | FileCheck %s
# RUN: not tir-opt %S/../Inputs/init_block.py --split-input-file -p 'tir-compute-at{block=#4 loop=#5}' 2>&1 | FileCheck %s --check-prefix=INIT


# INIT: error: {{.*}}block "Y" is in an init region; only blocks of a body can move
# Just what the consumer needs in one iteration.
# CHECK-LABEL: def stencil(
@T.prim_func
def stencil(A: T.Buffer((66,), "float32"), B: T.Buffer((4, 16), "float32")):
    Y = T.alloc_buffer((66,), "float32")
    for i in range(66):
        with T.block("Y"):
            vi = T.axis.spatial(66, i)
            Y[vi] = A[vi]
    # CHECK: for i in range(4):
    # CHECK-NEXT: for ax0 in range(18):
    # CHECK-NEXT: with T.block("Y"):
    # CHECK-NEXT: vi = T.axis.spatial(66, i * 16 + ax0)
    # CHECK: for j in range(16):
    # CHECK-NEXT: with T.block("B"):
    for i, j in T.grid(4, 16):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = Y[vi * 16 + vj] + Y[vi * 16 + vj + 2]


# -----


@T.prim_func
def output(A: T.Buffer((8,), "float32"), Y: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
    for k in range(8):
        # expected-error @below {{block "Y" writes Y, which is visible outside its scope}}
        with T.block("Y"):
            vi = T.axis.spatial(8, k)
            Y[vi] = A[vi]
    for i in range(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = Y[vi]


# -----


@T.prim_func
def output(A: T.Buffer((8,), "float32"), Y: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
    for i in range(8):
        # expected-error @below {{block "Y" writes Y, which is visible outside its scope: it is an output block; only blocks that write allocated buffers can be moved to a consumer}}
        with T.block("Y"):
            vi = T.axis.spatial(8, i)
            Y[vi] = A[vi]
    for i in range(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = Y[vi]


# -----


@T.prim_func
def reads_itself(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
    Y = T.alloc_buffer((8,), "float32")
    for i in range(8):
        # expected-error @below {{block "Y" reads Y, which it also writes}}
        with T.block("Y"):
            vi = T.axis.spatial(8, i)
            Y[vi] = A[vi]
            Y[vi] = Y[vi] + T.float32(1)
    for i in range(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = Y[vi]


# -----


@T.prim_func
def opaque(A: T.Buffer((8, 4), "float32"), B: T.Buffer((8,), "float32")):
    Y = T.alloc_buffer((8,), "float32")
    for i, k in T.grid(8, 4):
        # expected-error @below {{block "Y" has the ordered iter vi; a reduction has spatial and reduce iters}}
        with T.block("Y"):
            vi = T.axis.opaque(8, i)
            vk = T.axis.reduce(4, k)
            with T.init():
                Y[vi] = T.float32(0)
            Y[vi] = Y[vi] + A[vi, vk]
    for i in range(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = Y[vi]


# -----


@T.prim_func
def no_iters(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
    Y = T.alloc_buffer((8,), "float32")
    for i in range(8):
        # expected-error @below {{block "Y" has no iters and uses loop i itself, so it is not a complete block; bind the loop to an iter}}
        with T.block("Y"):
            Y[i] = A[i]
    for i in range(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = Y[vi]


# -----


@T.prim_func
def another_scope(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
    Y = T.alloc_buffer((8,), "float32")
    for i in range(8):
        with T.block("Y"):
            vi = T.axis.spatial(8, i)
            Y[vi] = A[vi]
    with T.block("outer"):
        # expected-error @below {{loop i is not in the scope of block "Y"; both must be under the same block scope}}
        for i in range(8):
            with T.block("B"):
                vi = T.axis.spatial(8, i)
                B[vi] = Y[vi]


# -----


@T.prim_func
def input_written_twice(A: T.Buffer((8,), "float32"), X: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
    Y = T.alloc_buffer((8,), "float32")
    for i in range(8):
        # expected-error @below {{X, which the block reads, is written by 2 blocks; it must not change between the two positions}}
        with T.block("Y"):
            vi = T.axis.spatial(8, i)
            Y[vi] = X[vi]
    for i in range(8):
        with T.block("P"):
            vi = T.axis.spatial(8, i)
            X[vi] = T.float32(0)
    for i in range(8):
        with T.block("Q"):
            vi = T.axis.spatial(8, i)
            X[vi] = A[vi]
    for i in range(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = Y[vi]


# -----


@T.prim_func
def input_written_outside(X: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
    Y = T.alloc_buffer((8,), "float32")
    for i in range(8):
        # expected-error @below {{X, which the block reads, is also written outside any block of its scope; it is not known}}
        with T.block("Y"):
            vi = T.axis.spatial(8, i)
            Y[vi] = X[vi]
    for i in range(8):
        X[i] = T.float32(0)
    for i in range(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = Y[vi]


# -----


@T.prim_func
def input_written_later(A: T.Buffer((8,), "float32"), X: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
    Y = T.alloc_buffer((8,), "float32")
    for i in range(8):
        with T.block("Y"):
            vi = T.axis.spatial(8, i)
            Y[vi] = X[vi]
    for i in range(8):
        # expected-error @below {{block "P" writes X after block "Y" has read it; the moved block could see the new values}}
        with T.block("P"):
            vi = T.axis.spatial(8, i)
            X[vi] = A[vi]
    for i in range(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = Y[vi]


# -----


@T.prim_func
def half_a_sum(A: T.Buffer((8, 4), "float32"), B: T.Buffer((4, 8), "float32")):
    X = T.alloc_buffer((8,), "float32")
    Y = T.alloc_buffer((4, 8), "float32")
    for k in range(4):
        for i in range(8):
            # expected-error @below {{block "Y" reads X during the reduction of block "X" over loop k; elsewhere it would see another value}}
            with T.block("X"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    X[vi] = T.float32(0)
                X[vi] = X[vi] + A[vi, vk]
        for i in range(8):
            with T.block("Y"):
                vk, vi = T.axis.remap("SS", [k, i])
                Y[vk, vi] = X[vi]
    for k in range(4):
        for i in range(8):
            with T.block("B"):
                vk, vi = T.axis.remap("SS", [k, i])
                B[vk, vi] = Y[vk, vi]


# -----


@T.prim_func
def what_was_there(A: T.Buffer((8,), "float32"), X: T.Buffer((8,), "float32"), B: T.Buffer((2, 4), "float32")):
    Y = T.alloc_buffer((2, 4), "float32")
    for o in range(2):
        for i in range(4):
            with T.block("P"):
                vi = T.axis.spatial(8, o * 4 + i)
                X[vi] = A[vi]
        for i in range(4):
            # expected-error @below {{at Y(o=0, i=0) the block reads the contents of X from before block "P"}}
            with T.block("Y"):
                vo, vi = T.axis.remap("SS", [o, i])
                Y[vo, vi] = X[7 - vi]
    for o in range(2):
        for i in range(4):
            with T.block("B"):
                vo, vi = T.axis.remap("SS", [o, i])
                B[vo, vi] = Y[vo, vi]


# -----


# A reduce iter of extent 1 without init is left over from a reduction: the block stores each element once.
# CHECK-LABEL: def unit_reduction(
@T.prim_func
def unit_reduction(A: T.Buffer((1, 8), "float32"), B: T.Buffer((8,), "float32")):
    Y = T.alloc_buffer((8,), "float32")
    for k, j in T.grid(1, 8):
        with T.block("Y"):
            vk, vj = T.axis.remap("RS", [k, j])
            Y[vj] = A[vk, vj]
    # CHECK: for i in range(8):
    # CHECK-NEXT: with T.block("Y"):
    # CHECK-NEXT: vk = T.axis.reduce(1, 0)
    # CHECK-NEXT: vj = T.axis.spatial(8, i)
    # CHECK: with T.block("B"):
    for i in range(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = Y[vi]


# -----


@T.prim_func
def reduction_without_init(A: T.Buffer((2, 8), "float32"), B: T.Buffer((8,), "float32")):
    Y = T.alloc_buffer((8,), "float32")
    for k, j in T.grid(2, 8):
        # expected-error @below {{block "Y" has the reduce iter vk, so it is not a complete block; all must be spatial}}
        with T.block("Y"):
            vk, vj = T.axis.remap("RS", [k, j])
            Y[vj] = A[vk, vj]
    for i in range(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = Y[vi]


# -----


# What the consumer declares is computed as well.
# CHECK-LABEL: def declared(
@T.prim_func
def declared(A: T.Buffer((64,), "float32"), B: T.Buffer((16, 4), "float32")):
    # CHECK: for i in range(16):
    # CHECK-NEXT: for ax0 in range(4):
    # CHECK-NEXT: with T.block("Y"):
    # CHECK-NEXT: vi = T.axis.spatial(64, i * 4 + ax0)
    # CHECK: for j in range(4):
    # CHECK-NEXT: with T.block("B"):
    Y = T.alloc_buffer((64,), "float32")
    for i in range(64):
        with T.block("Y"):
            vi = T.axis.spatial(64, i)
            Y[vi] = A[vi]
    for i, j in T.grid(16, 4):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            T.reads(Y[vi * 4:vi * 4 + 4])
            T.writes(B[vi, vj])
            T.block_attr({"explicit_read_region": [0]})
            B[vi, vj] = Y[vi * 4 + vj // 2]


# -----


# A recurrence along vj runs in full in each row.
# CHECK-LABEL: def sums_of_rows(
@T.prim_func
def sums_of_rows(A: T.Buffer((6, 7), "float32"), B: T.Buffer((6, 7), "float32")):
    # CHECK: for i in range(6):
    # CHECK-NEXT: for ax0 in range(7):
    # CHECK-NEXT: with T.block("Y"):
    # CHECK-NEXT: vi = T.axis.spatial(6, i)
    # CHECK-NEXT: vj = T.axis.opaque(7, ax0)
    # CHECK: for j in range(7):
    # CHECK-NEXT: with T.block("B"):
    Y = T.alloc_buffer((6, 7), "float32")
    for i, j in T.grid(6, 7):
        with T.block("Y"):
            vi, vj = T.axis.remap("SO", [i, j])
            Y[vi, vj] = T.if_then_else(vj == 0, T.float32(0), Y[vi, vj - 1]) + A[vi, vj]
    for i, j in T.grid(6, 7):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = Y[vi, 6 - vj]


# -----


# Nothing reads Y: it runs in full, at the end of the body.
# CHECK-LABEL: def unread(
@T.prim_func
def unread(A: T.Buffer((6,), "float32"), B: T.Buffer((4,), "float32")):
    # CHECK: for i in range(4):
    # CHECK-NEXT: with T.block("B"):
    # CHECK: for ax0 in range(6):
    # CHECK-NEXT: with T.block("Y"):
    Y = T.alloc_buffer((6,), "float32")
    for i in range(6):
        with T.block("Y"):
            vi = T.axis.spatial(6, i)
            Y[vi] = A[vi]
    for i in range(4):
        with T.block("B"):
            vi = T.axis.spatial(4, i)
            B[vi] = A[vi]


# -----


# The loop k runs the sum part by part; what follows it runs again after the last part, so all of it may run each time.
# expected-warning @unknown {{under loop i block "Y" runs all of its reduction in each iteration of loop k, which ran it part by part}}
# CHECK-LABEL: def whole_sums(
@T.prim_func
def whole_sums(A: T.Buffer((6, 7), "float32"), B: T.Buffer((6,), "float32")):
    # CHECK: for j, k, i in T.grid(6, 7, 1):
    # CHECK-NEXT: for ax0 in range(7):
    # CHECK-NEXT: with T.block("Y"):
    # CHECK-NEXT: vi, vk = T.axis.remap("SR", [j, ax0])
    Y = T.alloc_buffer((6,), "float32")
    for j, k in T.grid(6, 7):
        with T.block("Y"):
            vi, vk = T.axis.remap("SR", [j, k])
            with T.init():
                Y[vi] = 0.0
            Y[vi] += A[vi, vk]
        for i in range(1):
            with T.block("B"):
                vi = T.axis.spatial(6, j)
                B[vi] = Y[vi]


# -----


# The declared region of an index that is computed from iters, and stays in it.
# CHECK-LABEL: def resized(
@T.prim_func
def resized(A: T.Buffer((64,), "float32"), B: T.Buffer((8, 16), "float32")):
    Y = T.alloc_buffer((64,), "float32")
    for i in range(64):
        with T.block("Y"):
            vi = T.axis.spatial(64, i)
            Y[vi] = A[vi]
    # CHECK: for i in range(8):
    # CHECK-NEXT: for ax0 in range(8):
    # CHECK-NEXT: with T.block("Y"):
    # CHECK-NEXT: vi = T.axis.spatial(64, i * 8 + ax0)
    for i, j in T.grid(8, 16):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            T.reads(Y[vi * 8 : vi * 8 + 8])
            T.writes(B[vi, vj])
            T.block_attr({"explicit_read_region": [0]})
            B[vi, vj] = Y[T.Cast("int32", T.Cast("float32", vi * 16 + vj) * T.float32(0.5))]
