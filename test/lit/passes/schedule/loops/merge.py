# RUN: tir-opt %s --split-input-file --verify-diagnostics --emit=script -p 'tir-merge{loops=j,l}' | FileCheck %s
# RUN: not tir-opt %s --split-input-file -p 'tir-merge{loops=j}' 2>&1 | FileCheck %s --check-prefix=ALONE
# RUN: not tir-opt %s --split-input-file -p 'tir-merge{loops=j,j}' 2>&1 | FileCheck %s --check-prefix=TWICE


# TWICE: error: {{.*}}a loop is passed twice; merge needs distinct loops
# ALONE: merge needs at least two loops, not 1
# Both nests from what holds them down to the loops become one; kinds are lost.
# CHECK-LABEL: def side_by_side(
# expected-warning @unknown {{loop i was parallel; merge makes serial loops}}
# expected-warning @unknown {{loop l was vectorized; merge makes serial loops}}
@T.prim_func
def side_by_side(A: T.Buffer((4, 8), "float32"), B: T.Buffer((4, 8), "float32"), C: T.Buffer((4, 8), "float32")):
    # CHECK: for i_m, j_m in T.grid(4, 8):
    # CHECK-NEXT: with T.block("B"):
    # CHECK-NEXT: vi, vj = T.axis.remap("SS", [i_m, j_m])
    # CHECK: with T.block("C"):
    # CHECK-NEXT: vi, vj = T.axis.remap("SS", [i_m, j_m])
    for i in T.parallel(4):
        for j in range(8):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj]
    for k in range(4):
        for l in T.vectorized(8):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [k, l])
                C[vi, vj] = B[vi, vj]


# -----


@T.prim_func
def backwards(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32"), C: T.Buffer((8,), "float32")):
    for j in range(8):
        with T.block("B"):
            vj = T.axis.spatial(8, j)
            B[vj] = A[vj]
    for l in range(8):
        # expected-error @below {{a dependence would run backwards: B(j=4) and C(l=3) touch B[4]}}
        with T.block("C"):
            vl = T.axis.spatial(8, l)
            C[vl] = B[7 - vl]


# -----


@T.prim_func
def crossing(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32"), C: T.Buffer((8,), "float32")):
    for j in range(8):
        with T.block("B"):
            vj = T.axis.spatial(8, j)
            B[vj] = A[vj]
    for k in range(8):
        # expected-error @below {{the nest of loop j would move to after the ops between it and the last one}}
        with T.block("D"):
            vk = T.axis.opaque(8, k)
            A[vk] = B[vk]
    for l in range(8):
        with T.block("C"):
            vl = T.axis.spatial(8, l)
            C[vl] = T.float32(0)


# -----


@T.prim_func
def other_extent(B: T.Buffer((8,), "float32"), C: T.Buffer((7,), "float32")):
    for j in range(8):
        with T.block("B"):
            vj = T.axis.spatial(8, j)
            B[vj] = T.float32(0)
    # expected-error @below {{loop l runs 7 times, loop j 8 times; merge needs equal extents}}
    for l in range(7):
        with T.block("C"):
            vl = T.axis.spatial(7, l)
            C[vl] = T.float32(0)


# -----


@T.prim_func
def other_depth(B: T.Buffer((8,), "float32"), C: T.Buffer((8, 8), "float32")):
    for j in range(8):
        with T.block("B"):
            vj = T.axis.spatial(8, j)
            B[vj] = T.float32(0)
    for k in range(8):
        # expected-error @below {{loop l is 2 deep below its common ancestor with loop j, which is 1 deep}}
        for l in range(8):
            with T.block("C"):
                vk, vl = T.axis.remap("SS", [k, l])
                C[vk, vl] = T.float32(0)


# -----


@T.prim_func
def more_in_it(B: T.Buffer((8, 8), "float32"), C: T.Buffer((8, 8), "float32"), D: T.Buffer((8,), "float32")):
    for i in range(8):
        for j in range(8):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = T.float32(0)
    # expected-error @below {{the body of loop k contains more than loop l}}
    for k in range(8):
        for l in range(8):
            with T.block("C"):
                vk, vl = T.axis.remap("SS", [k, l])
                C[vk, vl] = T.float32(0)
        with T.block("D"):
            vk = T.axis.spatial(8, k)
            D[vk] = T.float32(0)


# -----


@T.prim_func
def bound(B: T.Buffer((8,), "float32"), C: T.Buffer((8,), "float32")):
    # expected-error @below {{loop j is bound to threadIdx.x; merge it before binding}}
    for j in T.thread_binding(8, thread="threadIdx.x"):
        with T.block("B"):
            vj = T.axis.spatial(8, j)
            B[vj] = T.float32(0)
    for l in range(8):
        with T.block("C"):
            vl = T.axis.spatial(8, l)
            C[vl] = T.float32(0)


# -----


@T.prim_func
def start(B: T.Buffer((8,), "float32"), C: T.Buffer((8,), "float32")):
    # expected-error @below {{loop j starts at 1; merge needs a loop that starts at 0}}
    for j in range(1, 8):
        with T.block("B"):
            vj = T.axis.spatial((1, 8), j)
            B[vj] = T.float32(0)
    for l in range(1, 8):
        with T.block("C"):
            vl = T.axis.spatial((1, 8), l)
            C[vl] = T.float32(0)


# -----


@T.prim_func
def least(B: T.Buffer((6,), "float32"), C: T.Buffer((6,), "float32")):
    for i in range(8):
        # expected-error @below {{loop j ends at the minimum of several bounds; merge needs a single one}}
        for j in range(T.min(i + 1, 6)):
            with T.block("B"):
                vj = T.axis.opaque(6, j)
                B[vj] = T.float32(0)
        for l in range(T.min(i + 1, 6)):
            with T.block("C"):
                vl = T.axis.opaque(6, l)
                C[vl] = T.float32(0)


# -----


@T.prim_func
def in_a_condition(B: T.Buffer((8,), "float32"), C: T.Buffer((8,), "float32"), n: T.int32):
    if n > 3:
        # expected-error @below {{there is a condition between loop j and the common ancestor of the loops; merge needs loops only}}
        for j in range(8):
            with T.block("B"):
                vj = T.axis.spatial(8, j)
                B[vj] = T.float32(0)
    for l in range(8):
        with T.block("C"):
            vl = T.axis.spatial(8, l)
            C[vl] = T.float32(0)


# -----


@T.prim_func
def in_a_block(B: T.Buffer((8,), "float32"), C: T.Buffer((8,), "float32")):
    with T.block("outer"):
        # expected-error @below {{there is a block between loop j and the common ancestor of the loops; merge needs loops only}}
        for j in range(8):
            with T.block("B"):
                vj = T.axis.spatial(8, j)
                B[vj] = T.float32(0)
    for l in range(8):
        with T.block("C"):
            vl = T.axis.spatial(8, l)
            C[vl] = T.float32(0)
