# RUN: tir-opt %s --split-input-file --verify-diagnostics --emit=script -p 'tir-write-at{loop=i block=B buffer=B scope=local}' | FileCheck %s
# RUN: not tir-opt %s --split-input-file -p 'tir-write-at{loop=x block=B buffer=B scope=local}' 2>&1 | FileCheck %s --check-prefix=LOOP
# RUN: not tir-opt %s --split-input-file -p 'tir-write-at{loop=i block=B buffer=B scope=fast}' 2>&1 | FileCheck %s --check-prefix=SCOPE


# LOOP: error: {{.*}}loop x is not around block "B"
# SCOPE: error: {{.*}}'fast' is not a storage scope
# CHECK-LABEL: def rows(
@T.prim_func
def rows(A: T.Buffer((8, 4), "float32"), B: T.Buffer((8, 4), "float32"), X: T.Buffer((4,), "float32")):
    for x in range(4):
        with T.block("X"):
            vx = T.axis.spatial(4, x)
            X[vx] = T.float32(0)
    # CHECK: B_local[vi, vj] = A[vi, vj]
    # CHECK: with T.block("B_local"):
    # CHECK-NEXT: v0 = T.axis.spatial(8, i)
    # CHECK-NEXT: T.reads(B_local[v0, 0:4])
    # CHECK-NEXT: T.writes(B[v0, 0:4])
    # CHECK-NEXT: T.block_attr({"auto_copy": {{.*}}})
    # CHECK-NEXT: for ax0, ax1 in T.grid(1, 4):
    # CHECK-NEXT: B[v0 + ax0, ax1] = B_local[v0 + ax0, ax1]
    for i, j in T.grid(8, 4):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj]


# -----


@T.prim_func
def read_after(A: T.Buffer((8,), "float32"), C: T.Buffer((8,), "float32")):
    B = T.alloc_buffer((8,), "float32")
    for i in range(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = A[vi]
        # expected-error @below {{B is read here after the last write in loop i; use cache_write}}
        with T.block("C"):
            vi = T.axis.spatial(8, i)
            C[vi] = B[vi]


# -----


@T.prim_func
def holes(B: T.Buffer((8, 16), "float32")):
    # expected-error @below {{the elements written in an iteration of loop i are not a box: B_local[0, 1] is left out}}
    for i, j in T.grid(8, 8):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj * 2] = T.float32(1)


# -----


@T.prim_func
def before(B: T.Buffer((8, 4), "float32")):
    # expected-error @below {{B(i=0, j=0) reads the earlier contents of the buffer, which the copy does not have; cache_inplace copies in the earlier contents}}
    for i, j in T.grid(8, 4):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = B[vi, vj] + T.float32(1)


# -----


@T.prim_func
def elsewhere(A: T.Buffer((8, 4), "float32"), B: T.Buffer((8,), "float32")):
    for x in range(8):
        # expected-error @below {{B is written here and read under loop i, where the copy lacks that value; use cache_read and cache_write, or a loop around both}}
        with T.block("init"):
            vx = T.axis.spatial(8, x)
            B[vx] = T.float32(0)
    for i, j in T.grid(8, 4):
        with T.block("B"):
            vi, vj = T.axis.remap("SR", [i, j])
            B[vi] = B[vi] + A[vi, vj]


# -----


# The loop is around the block that contains the block.
# CHECK-LABEL: def outer_scope(
@T.prim_func
def outer_scope(A: T.Buffer((8, 4), "float32"), B: T.Buffer((8, 4), "float32")):
    # CHECK: with T.block("outer"):
    # CHECK: T.writes(B_local[vi, 0:4])
    # CHECK: B_local[vi, vj] = A[vi, vj]
    # CHECK: with T.block("B_local"):
    # CHECK-NEXT: v0 = T.axis.spatial(8, i)
    for i in range(8):
        with T.block("outer"):
            vi = T.axis.spatial(8, i)
            for j in range(4):
                with T.block("B"):
                    vj = T.axis.spatial(4, j)
                    B[vi, vj] = A[vi, vj]


# -----


# What the sum reads was written in the same iteration; the other writer does not matter.
# CHECK-LABEL: def started_here(
@T.prim_func
def started_here(A: T.Buffer((8, 4), "float32"), B: T.Buffer((10,), "float32")):
    # CHECK: B[vx] = T.float32(0.0)
    # CHECK: B_local[vi + 2] = T.float32(0.0)
    # CHECK: B_local[vi + 2] = B_local[vi + 2] + A[vi, vj]
    # CHECK-NEXT: with T.block("B_local"):
    for x in range(2):
        with T.block("first"):
            vx = T.axis.spatial(2, x)
            B[vx] = T.float32(0)
    for i in range(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi + 2] = T.float32(0)
        for j in range(4):
            with T.block("sum"):
                vi, vj = T.axis.remap("SR", [i, j])
                B[vi + 2] = B[vi + 2] + A[vi, vj]


# -----


# Iterations after the first copy the same elements again.
# CHECK-LABEL: def once(
@T.prim_func
def once(A: T.Buffer((5,), "float32"), B: T.Buffer((5,), "float32")):
    # CHECK: T.where(i < 1)
    # CHECK: B_local[vj] = A[vj]
    # CHECK: with T.block("B_local"):
    # CHECK: B[ax0] = B_local[ax0]
    for i, j in T.grid(3, 5):
        with T.block("B"):
            vj = T.axis.spatial(5, j)
            T.where(i < 1)
            B[vj] = A[vj]
