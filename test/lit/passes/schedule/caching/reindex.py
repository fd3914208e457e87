# RUN: tir-opt %s --split-input-file --verify-diagnostics --emit=script -p 'tir-reindex{block=B buffer=B}' | FileCheck %s
# RUN: not tir-opt %s --split-input-file -p 'tir-reindex{block=B buffer=Q}' 2>&1 | FileCheck %s --check-prefix=NAME
# RUN: not tir-opt %s --split-input-file -p 'tir-reindex{block=B buffer=A}' 2>&1 | FileCheck %s --check-prefix=PLACES
# RUN: not tir-opt %S/../Inputs/init_block.py --split-input-file -p 'tir-reindex{block=#4 buffer=Y}' 2>&1 | FileCheck %s --check-prefix=INIT
# RUN: not tir-opt %S/../Inputs/declared_only.py -p 'tir-reindex{block=B buffer=X}' 2>&1 | FileCheck %s --check-prefix=DECLARED


# DECLARED: error: {{.*}}block "B" declares X, but does not access it
# INIT: error: {{.*}}block "Y" is in an init region; pass the block around it
# What is written goes to a copy in the order of the iters, and back behind the loops.
# NAME: error: {{.*}}block "B" neither reads nor writes a buffer 'Q'; it accesses A, B
# PLACES: error: {{.*}}block "B" accesses A at different indices; a single one is needed
# CHECK-LABEL: def turned(
@T.prim_func
def turned(A: T.Buffer((4, 9), "float32"), B: T.Buffer((8, 4), "float32")):
    # CHECK: B_reindex = T.alloc_buffer((4, 8))
    # CHECK: with T.block("B"):
    # CHECK: B_reindex[vi, vj] = A[vi, vj] + A[vi, vj + 1]
    # CHECK: for ax0, ax1 in T.grid(4, 8):
    # CHECK-NEXT: with T.block("B_reindex"):
    # CHECK: B[7 - v1, v0] = B_reindex[v0, v1]
    for i, j in T.grid(4, 8):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[7 - vj, vi] = A[vi, vj] + A[vi, vj + 1]


# -----


# What the block reads and writes held something before.
@T.prim_func
def before(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
    for i in range(8):
        # expected-error @below {{at B(i=0) the block reads an element of the buffer before it writes it; in a cache it would be uninitialized: the block needs an init or a first write}}
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = B[vi] + A[vi]


# -----


@T.prim_func
def overlap(A: T.Buffer((4, 3), "float32"), B: T.Buffer((6,), "float32")):
    for i, j in T.grid(4, 3):
        # expected-error @below {{B(vi=0, vj=1) and B(vi=1, vj=0) both access B[1], but would use two elements of the cache}}
        with T.block("B"):
            vi = T.axis.opaque(4, i)
            vj = T.axis.opaque(3, j)
            B[vi + vj] = A[vi, vj]


# -----


# In a loop shared with another block the copy is inside: here one element.
# CHECK-LABEL: def two_in_a_loop(
# CHECK: for i in range(8):
# CHECK-NEXT: with T.block("B"):
# CHECK: B_reindex[vi] = A[vi]
# CHECK: for ax0 in range(1):
# CHECK-NEXT: with T.block("B_reindex"):
# CHECK-NEXT: v0 = T.axis.spatial(8, i + ax0)
# CHECK: B[v0] = B_reindex[v0]
# CHECK: with T.block("C"):
@T.prim_func
def two_in_a_loop(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32"), C: T.Buffer((8,), "float32")):
    for i in range(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = A[vi]
        with T.block("C"):
            vi = T.axis.spatial(8, i)
            C[vi] = A[vi]


# -----


@T.prim_func
def inner_loop(B: T.Buffer((8, 4), "float32")):
    for i in range(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            # expected-error @below {{the index of B uses a loop inside the block; it must use iters of the block only}}
            for k in range(4):
                B[vi, k] = T.float32(0)


# -----


@T.prim_func
def scattered(P: T.Buffer((8,), "int32"), B: T.Buffer((8,), "float32")):
    for i in range(8):
        # expected-error @below {{B is accessed by memref.store, at a non-affine index or through a pointer or view; only plain accesses at affine indices can be redirected}}
        with T.block("B"):
            vi = T.axis.reduce(8, i)
            B[T.max(T.min(P[vi], 7), 0)] = T.float32(1)


# -----


@T.prim_func
def blocks_inside(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
    # expected-error @below {{block "B" contains block "inner"; it must not contain blocks}}
    with T.block("B"):
        for i in range(8):
            with T.block("inner"):
                vi = T.axis.spatial(8, i)
                B[vi] = A[vi]


# -----


# By its name, an accumulator is what is written.
# CHECK-LABEL: def accumulator(
@T.prim_func
def accumulator(A: T.Buffer((4, 8, 3), "float32"), B: T.Buffer((8, 4), "float32")):
    # CHECK: B_reindex = T.alloc_buffer((4, 8))
    # CHECK: B_reindex[vi, vj] = T.float32(0.0)
    # CHECK-NEXT: B_reindex[vi, vj] = B_reindex[vi, vj] + A[vi, vj, vk]
    # CHECK: with T.block("B_reindex"):
    # CHECK: B[v1, v0] = B_reindex[v0, v1]
    for i, j, k in T.grid(4, 8, 3):
        with T.block("B"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                B[vj, vi] = T.float32(0)
            B[vj, vi] = B[vj, vi] + A[vi, vj, vk]


# -----


# vi // 4 is 0: the index does not depend on it, and the copy has one dimension less.
# CHECK-LABEL: def seeming_iter(
@T.prim_func
def seeming_iter(A: T.Buffer((4, 8), "float32"), B: T.Buffer((1, 8, 4), "float32")):
    # CHECK: B_reindex = T.alloc_buffer((4, 8))
    # CHECK: B_reindex[vi, vj] = A[vi, vj] + T.float32(1.0)
    # CHECK: B[0, v1, v0] = B_reindex[v0, v1]
    for i, j in T.grid(4, 8):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi // 4, vj, vi] = A[vi, vj] + T.float32(1)
