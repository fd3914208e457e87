# RUN: tir-opt %s --split-input-file --verify-diagnostics --emit=script -p 'tir-blockize{loop=i}' | FileCheck %s


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
    # expected-error @below {{blockize needs a loop with exactly one block beneath it; loop i has 2}}
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
