# RUN: tir-opt %s --split-input-file --verify-diagnostics --emit=script -p 'tir-fuse{loops=i,j}' | FileCheck %s
# RUN: not tir-opt %s --split-input-file -p 'tir-fuse{loops=[]}' 2>&1 | FileCheck %s --check-prefix=NONE


# NONE: error: {{.*}}fuse needs at least one loop
# CHECK-LABEL: def nest(
@T.prim_func
def nest(A: T.Buffer((4, 8), "float32")):
    # CHECK: for i_j_fused in range(32):
    # CHECK: vi = T.axis.spatial(4, i_j_fused // 8)
    # CHECK: vj = T.axis.spatial(8, i_j_fused % 8)
    for i, j in T.grid(4, 8):
        with T.block("A"):
            vi, vj = T.axis.remap("SS", [i, j])
            A[vi, vj] = T.float32(0)


# -----


# Only the outermost extent may be symbolic.
# CHECK-LABEL: def symbolic(
@T.prim_func
def symbolic(a: T.handle):
    n = T.int32()
    A = T.match_buffer(a, (n, 8), "float32")
    # CHECK: for i_j_fused in range(n * 8):
    for i, j in T.grid(n, 8):
        with T.block("A"):
            vi, vj = T.axis.remap("SS", [i, j])
            A[vi, vj] = T.float32(0)


# -----


# Quotients and remainders by a size stand in bindings; where they are affine, they stay so.
# CHECK-LABEL: def symbolic_inside(
@T.prim_func
def symbolic_inside(a: T.handle):
    n = T.int32()
    A = T.match_buffer(a, (8, n, 4), "float32")
    # CHECK: for i_j_fused, k in T.grid(n * 8, 4):
    # CHECK: vi = T.axis.spatial(8, i_j_fused // n)
    # CHECK: vj = T.axis.spatial(n, i_j_fused % n)
    # CHECK: vk = T.axis.spatial(4, k)
    for i in range(8):
        for j in range(n):
            for k in range(4):
                with T.block("A"):
                    vi, vj, vk = T.axis.remap("SSS", [i, j, k])
                    A[vi, vj, vk] = T.float32(0)


# -----


# A quotient of sizes is a factor of a size.
# CHECK-LABEL: def tiles(
@T.prim_func
def tiles(a: T.handle):
    m, n = T.int32(), T.int32()
    A = T.match_buffer(a, (m, n), "float32")
    # CHECK: for i_j_fused, p, q in T.grid((m + 63) // 64 * ((n + 15) // 16), 64, 16):
    # CHECK: vi = T.axis.spatial(m, i_j_fused // ((n + 15) // 16) * 64 + p)
    # CHECK: vj = T.axis.spatial(n, i_j_fused % ((n + 15) // 16) * 16 + q)
    for i, j, p, q in T.grid((m + 63) // 64, (n + 15) // 16, 64, 16):
        with T.block("A"):
            vi = T.axis.spatial(m, i * 64 + p)
            vj = T.axis.spatial(n, j * 16 + q)
            T.where(i * 64 + p < m and j * 16 + q < n)
            A[vi, vj] = T.float32(0)


# -----


# Guards that use the loops are computed, too.
# CHECK-LABEL: def guarded(
@T.prim_func
def guarded(a: T.handle):
    n = T.int32()
    A = T.match_buffer(a, (8, n), "float32")
    # CHECK: T.where(i_j_fused % n + 1 < i_j_fused // n)
    # CHECK: T.where(m < 3)
    for i in range(8):
        for j in range(n):
            for m in range(4):
                with T.block("A"):
                    vi, vj = T.axis.remap("OO", [i, j])
                    T.where(j + 1 < i and m < 3)
                    A[vi, vj] = T.float32(0)


# -----


@T.prim_func
def inner_bound(a: T.handle):
    n = T.int32()
    A = T.match_buffer(a, (8, n, n), "float32")
    for i in range(8):
        for j in range(n):
            # expected-error @below {{the bound of a loop uses loop j, and would not be affine any more}}
            for k in range(j + 1):
                with T.block("A"):
                    vi, vj = T.axis.remap("SO", [i, j])
                    vk = T.axis.opaque(n, k)
                    A[vi, vj, vk] = T.float32(0)


# -----


@T.prim_func
def negative(a: T.handle):
    n = T.int32()
    A = T.match_buffer(a, (n, n), "float32")
    for i in range(n - 5):
        # expected-error @below {{not provable: the extent of loop j may be negative}}
        for j in range(n - 5):
            with T.block("A"):
                vi, vj = T.axis.remap("OO", [i, j])
                A[vi, vj] = T.float32(0)


# -----


@T.prim_func
def quotient(a: T.handle):
    m, n = T.int32(), T.int32()
    A = T.match_buffer(a, (m, n), "float32")
    for i in range((m - n) // 4):
        # expected-error @below {{the extent of loop j times those of the loops around it is neither affine nor a product of sizes}}
        for j in range(n):
            with T.block("A"):
                vi, vj = T.axis.remap("OO", [i, j])
                A[vi, vj] = T.float32(0)


# -----


@T.prim_func
def more_in_it(A: T.Buffer((4, 8), "float32"), B: T.Buffer((4,), "float32")):
    # expected-error @below {{the body of loop i contains more than loop j}}
    for i in range(4):
        for j in range(8):
            with T.block("A"):
                vi, vj = T.axis.remap("SS", [i, j])
                A[vi, vj] = T.float32(0)
        with T.block("B"):
            vi = T.axis.spatial(4, i)
            B[vi] = T.float32(0)


# -----


@T.prim_func
def wrong_order(A: T.Buffer((4, 8), "float32")):
    for j in range(8):
        # expected-error @above {{loop j is not directly inside loop i}}
        for i in range(4):
            with T.block("A"):
                vi, vj = T.axis.remap("SS", [i, j])
                A[vi, vj] = T.float32(0)


# -----


@T.prim_func
def triangle(A: T.Buffer((8, 8), "float32")):
    for i in range(8):
        # expected-error @below {{the extent of loop j depends on a loop that it would be fused with}}
        for j in range(i + 1):
            with T.block("A"):
                T.reads()
                T.writes(A[i, j])
                A[i, j] = T.float32(0)


# -----


# Loops that start elsewhere: the bindings get the starts.
# CHECK-LABEL: def start(
@T.prim_func
def start(A: T.Buffer((8, 8), "float32")):
    # CHECK: for i_j_fused in range(42):
    # CHECK: vi = T.axis.spatial((2, 8), i_j_fused // 7 + 2)
    # CHECK: vj = T.axis.spatial((1, 8), i_j_fused % 7 + 1)
    for i in range(2, 8):
        for j in range(1, 8):
            with T.block("A"):
                vi = T.axis.spatial((2, 8), i)
                vj = T.axis.spatial((1, 8), j)
                A[vi, vj] = T.float32(0)


# -----


@T.prim_func
def start_of_outer(A: T.Buffer((8, 8), "float32")):
    for i in range(8):
        # expected-error @below {{the extent of loop j depends on a loop that it would be fused with}}
        for j in range(i, 8):
            with T.block("A"):
                vi = T.axis.spatial(8, i)
                vj = T.axis.opaque(8, j)
                A[vi, vj] = T.float32(0)


# -----


@T.prim_func
def least(B: T.Buffer((6,), "float32")):
    for i in range(8):
        # expected-error @below {{loop j ends at the minimum of several bounds; fuse needs a single one}}
        for j in range(T.min(i + 1, 6)):
            with T.block("B"):
                vj = T.axis.opaque(6, j)
                B[vj] = T.float32(0)


# -----


@T.prim_func
def too_long(B: T.Buffer((1,), "float32")):
    # expected-error @below {{the fused extent 18446744073709551616 does not fit an index (64 bits)}}
    for i in range(4294967296):
        for j in range(4294967296):
            with T.block("B"):
                vi = T.axis.opaque(4294967296, i)
                vj = T.axis.opaque(4294967296, j)
                B[0] = T.float32(0)
