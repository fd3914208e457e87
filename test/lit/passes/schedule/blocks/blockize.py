# RUN: tir-opt %s --split-input-file --verify-diagnostics --emit=script -p 'tir-blockize{loop=i}' | FileCheck %s
# RUN: tir-opt %S/../Inputs/blockize_list.py --split-input-file --verify-diagnostics -p 'tir-blockize{loop=P,Q}'
# RUN: not tir-opt %S/../Inputs/blockize_list.py --split-input-file -p 'tir-blockize{loop=P,P}' 2>&1 | FileCheck %s --check-prefix=TWICE
# RUN: tir-opt %S/../Inputs/blockize_joined.py --split-input-file --emit=script -p 'tir-blockize{loop=P,Q}' | FileCheck %S/../Inputs/blockize_joined.py


# TWICE: error: {{.*}}a block is listed twice
# The binding divides into a part of the outer loops and one of the inner ones.
# CHECK-LABEL: def tiles(
@T.prim_func
def tiles(A: T.Buffer((64, 8), "float32"), B: T.Buffer((64,), "float32")):
    # CHECK: for o in range(4):
    # CHECK-NEXT: with T.block("B_o"):
    # CHECK: vi_o = T.axis.spatial(4, o)
    # CHECK: T.reads(A[vi_o * 16:vi_o * 16 + 16, 0:8])
    # CHECK: T.writes(B[vi_o * 16:vi_o * 16 + 16])
    # CHECK: for i, k in T.grid(16, 8):
    # CHECK-NEXT: with T.block("B"):
    for o, i, k in T.grid(4, 16, 8):
        with T.block("B"):
            vi = T.axis.spatial(64, o * 16 + i)
            vk = T.axis.reduce(8, k)
            with T.init():
                B[vi] = T.float32(0)
            B[vi] = B[vi] + A[vi, vk]


# -----


@T.prim_func
def two_blocks(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
    # expected-error @below {{blockize needs a loop with exactly one block under it; loop i has 2}}
    for i in range(8):
        with T.block("A"):
            vi = T.axis.spatial(8, i)
            A[vi] = T.float32(0)
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = T.float32(0)


# -----


@T.prim_func
def mixed(A: T.Buffer((16,), "float32")):
    for o in range(9):
        for i in range(8):
            # expected-error @below {{the binding of iter v mixes outer and inner loops in one division or remainder}}
            with T.block("A"):
                v = T.axis.spatial(16, (o * 7 + i) % 16)
                A[v] = T.float32(0)


# -----


@T.prim_func
def opaque(A: T.Buffer((8, 4), "float32"), B: T.Buffer((8,), "float32")):
    for i, k in T.grid(8, 4):
        # expected-error @below {{block "B" has the ordered iter vi; an init may be hoisted out of loops of spatial and reduce iters only}}
        with T.block("B"):
            vi = T.axis.opaque(8, i)
            vk = T.axis.reduce(4, k)
            with T.init():
                B[vi] = T.float32(0)
            B[vi] = B[vi] + A[vi, vk]


# -----


@T.prim_func
def more(A: T.Buffer((8, 4), "float32"), B: T.Buffer((8,), "float32")):
    # expected-error @below {{the body of loop i contains more than the nest of block "A"}}
    for i in range(8):
        with T.block("A"):
            vi = T.axis.spatial(8, i)
            A[vi, 0] = T.float32(0)
        B[i] = T.float32(1)


# -----


@T.prim_func
def outside(A: T.Buffer((8, 8), "float32")):
    for o in range(8):
        # expected-error @below {{the bounds of loop i depend on loop o, which is outside the new block}}
        for i in range(o + 1):
            with T.block("A"):
                vo, vi = T.axis.remap("SS", [o, i])
                A[vo, vi] = T.float32(0)


# -----


@T.prim_func
def guard(A: T.Buffer((8, 8, 4), "float32"), B: T.Buffer((8, 8), "float32")):
    for o in range(8):
        for i, k in T.grid(8, 4):
            # expected-error @below {{the guard of block "B" is not a condition on a single iter, so the part of a tile}}
            with T.block("B"):
                T.where(o + i < 8)
                vo, vi, vk = T.axis.remap("SSR", [o, i, k])
                with T.init():
                    B[vo, vi] = T.float32(0)
                B[vo, vi] = B[vo, vi] + A[vo, vi, vk]


# -----


@T.prim_func
def no_multiple(A: T.Buffer((23,), "float32")):
    for o in range(4):
        for i in range(8):
            # expected-error @below {{the outer part of iter v is not a multiple of the tile size 8}}
            with T.block("A"):
                v = T.axis.opaque(23, o * 5 + i)
                A[v] = T.float32(0)


# -----


# Without a loop outside there is one tile: what its loops run of the domain.
# CHECK-LABEL: def diagonal(
# CHECK: with T.block("A_o"):
# CHECK-NEXT: v_o = T.axis.spatial(1, 0)
# CHECK-NEXT: w_o = T.axis.spatial(1, 0)
# CHECK: for i in range(n):
# CHECK-NEXT: with T.block("A"):
# CHECK: A[v_i, w_i] = T.float32(0.0)
@T.prim_func
def diagonal(a: T.handle):
    n = T.int32()
    A = T.match_buffer(a, (n, n), "float32")
    T.assume(n <= 1)
    for i in range(n):
        with T.block("A"):
            v, w = T.axis.remap("SS", [i, i])
            A[v, w] = T.float32(0)


# -----


@T.prim_func
def hole(A: T.Buffer((64,), "float32")):
    for o in range(2):
        for p in range(4):
            for i in range(8):
                # expected-error @below {{the inner loops do not cover [0, 15) of iter v: the tile has a hole at 1}}
                with T.block("A"):
                    v = T.axis.spatial(64, p * 16 + i * 2 + o)
                    A[v] = T.float32(0)


# -----


@T.prim_func
def no_size(a: T.handle):
    n = T.int32()
    A = T.match_buffer(a, (n + 7,), "float32")
    T.assume(n >= 1)
    for o in range(8):
        for i in range(n):
            # expected-error @below {{the inner part of iter v has no constant size; split the symbolic loop by a tile size}}
            with T.block("A"):
                v = T.axis.opaque(n + 7, o + i)
                A[v] = T.float32(0)


# -----


@T.prim_func
def corner(A: T.Buffer((1, 1), "float32")):
    for o, p in T.grid(2, 2):
        for i in range(2):
            # expected-error @below {{the inner loops do not cover 2 x 2 of iters (v, w): the tile has a hole at (0, 1)}}
            with T.block("A"):
                T.where(o * 2 + i < 1 and p * 2 + i < 1)
                v = T.axis.opaque(1, o * 2 + i)
                w = T.axis.opaque(1, p * 2 + i)
                A[v, w] = T.float32(0)
