# RUN: tir-opt %s --split-input-file --verify-diagnostics --emit=script -p 'tir-decompose-padding{block=Y loop=i}' | FileCheck %s
# RUN: not tir-opt %S/../Inputs/init_block.py --split-input-file -p 'tir-decompose-padding{block=#4 loop=#3}' 2>&1 | FileCheck %s --check-prefix=INIT


# INIT: error: {{.*}}block "Y" is in an init region
# CHECK-LABEL: def shifted(
@T.prim_func
def shifted(X: T.Buffer((128,), "int32"), Y: T.Buffer((140,), "int32")):
    # CHECK: for i in range(140):
    # CHECK-NEXT: with T.block("Y_pad_const"):
    # CHECK: Y[vi] = 0
    # CHECK: for i in range(128):
    # CHECK-NEXT: with T.block("Y"):
    # CHECK-NEXT: vi = T.axis.spatial(128, i)
    # CHECK: Y[vi + 6] = X[vi]
    for i in range(140):
        with T.block("Y"):
            vi = T.axis.spatial(140, i)
            Y[vi] = T.if_then_else(vi >= 6 and vi < 134, X[vi - 6], 0)


# -----


# CHECK-LABEL: def tiled(
@T.prim_func
def tiled(X: T.Buffer((13,), "int32"), Y: T.Buffer((16,), "int32")):
    # CHECK: for i, j in T.grid(4, 4):
    # CHECK-NEXT: with T.block("Y_pad_const"):
    # CHECK: for i, j in T.grid(4, 4):
    # CHECK-NEXT: with T.block("Y"):
    # CHECK-NEXT: vi = T.axis.spatial(13, i * 4 + j - 1)
    # CHECK-NEXT: T.where(i * 4 + j >= 1 and i * 4 + j < 14)
    for i, j in T.grid(4, 4):
        with T.block("Y"):
            vi = T.axis.spatial(16, i * 4 + j)
            Y[vi] = T.if_then_else(vi >= 1 and vi < 14, X[vi - 1], 0)


# -----


@T.prim_func
def copy(X: T.Buffer((16,), "int32"), Y: T.Buffer((16,), "int32")):
    for i in range(16):
        # expected-error @below {{block "Y" does not store T.if_then_else(condition, value, constant) with a condition on its iters}}
        with T.block("Y"):
            vi = T.axis.spatial(16, i)
            Y[vi] = X[vi]


# -----


@T.prim_func
def values(X: T.Buffer((16,), "int32"), Y: T.Buffer((16,), "int32")):
    for i in range(16):
        # expected-error @below {{block "Y" selects between two values; one of them must be a constant, the padding}}
        with T.block("Y"):
            vi = T.axis.spatial(16, i)
            Y[vi] = T.if_then_else(vi < 7, X[vi], X[0])


# -----


@T.prim_func
def every_other(X: T.Buffer((16,), "int32"), Y: T.Buffer((16,), "int32")):
    for i in range(16):
        # expected-error @below {{the iterations of block "Y" that store the value are not a box: (vi = 1) is between them and stores the constant}}
        with T.block("Y"):
            vi = T.axis.spatial(16, i)
            Y[vi] = T.if_then_else(vi % 2 == 0, X[vi], 0)


# -----


@T.prim_func
def never(X: T.Buffer((16,), "int32"), Y: T.Buffer((16,), "int32")):
    for i in range(16):
        # expected-error @below {{every iteration of block "Y" stores the value; nothing is padded}}
        with T.block("Y"):
            vi = T.axis.spatial(16, i)
            Y[vi] = T.if_then_else(vi < 16, X[vi], 0)


# -----


@T.prim_func
def read_early(X: T.Buffer((16,), "int32"), Y: T.Buffer((16,), "int32"), Z: T.Buffer((16,), "int32")):
    for i in range(16):
        with T.block("Y"):
            vi = T.axis.spatial(16, i)
            Y[vi] = T.if_then_else(vi < 7, X[vi], 0)
        # expected-error @below {{at Z(i=0) an element of Y is read that no iteration of loop i has written yet}}
        with T.block("Z"):
            vi = T.axis.spatial(16, i)
            Z[vi] = Y[15 - vi]


# -----


@T.prim_func
def elsewhere(X: T.Buffer((16,), "int32"), Y: T.Buffer((16,), "int32"), Z: T.Buffer((16,), "int32")):
    for j in range(16):
        with T.block("Y"):
            vi = T.axis.spatial(16, j)
            Y[vi] = T.if_then_else(vi < 7, X[vi], 0)
    # expected-error @below {{loop i is not around block "Y" (its loops: j)}}
    for i in range(16):
        with T.block("Z"):
            vi = T.axis.spatial(16, i)
            Z[vi] = X[vi]


# -----


@T.prim_func
def reduction(X: T.Buffer((8, 8), "float32"), Y: T.Buffer((8,), "float32")):
    for i, k in T.grid(8, 8):
        # expected-error @below {{block "Y" has an init, so it is not a complete block; a padding block has none}}
        with T.block("Y"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                Y[vi] = T.float32(0)
            Y[vi] = Y[vi] + X[vi, vk]


# -----


@T.prim_func
def triangle(X: T.Buffer((8, 8), "float32"), Y: T.Buffer((8, 8), "float32")):
    for i in range(8):
        # expected-error @below {{the bounds of loop j depend on loop i, which may become shorter}}
        for j in range(i + 1):
            with T.block("Y"):
                vi, vj = T.axis.remap("SS", [i, j])
                Y[vi, vj] = T.if_then_else(vi > 2, X[vi, vj], T.float32(0))


# -----


@T.prim_func
def two_stores(X: T.Buffer((8,), "float32"), Y: T.Buffer((8,), "float32")):
    for i in range(8):
        # expected-error @below {{the body of block "Y" is not one store at an affine index}}
        with T.block("Y"):
            vi = T.axis.spatial(8, i)
            Y[vi] = X[vi]
            Y[vi] = T.if_then_else(vi > 2, X[vi], T.float32(0))


# -----


@T.prim_func
def call(X: T.Buffer((8,), "float32"), Y: T.Buffer((8,), "float32")):
    for i in range(8):
        # expected-error @below {{block "Y" contains func.call; a padding block only computes a value}}
        with T.block("Y"):
            vi = T.axis.spatial(8, i)
            T.evaluate(T.call_extern("int32", "log", 3))
            Y[vi] = T.if_then_else(vi > 2, X[vi], T.float32(0))


# -----


@T.prim_func
def all_padding(X: T.Buffer((8,), "float32"), Y: T.Buffer((8,), "float32")):
    for i in range(8):
        # expected-error @below {{no iteration of block "Y" stores the value; all of it is padding}}
        with T.block("Y"):
            vi = T.axis.spatial(8, i)
            Y[vi] = T.if_then_else(vi > 20, X[vi - 20], T.float32(0))


# -----


@T.prim_func
def by_an_outer_iter(X: T.Buffer((4, 8), "float32"), Y: T.Buffer((4, 8), "float32")):
    for o in range(4):
        with T.block("outer"):
            vo = T.axis.spatial(4, o)
            for i in range(8):
                # expected-error @below {{the condition in block "Y" is not a condition on its iters}}
                with T.block("Y"):
                    vi = T.axis.spatial(8, i)
                    Y[vo, vi] = T.if_then_else(vi > vo, X[vo, vi], T.float32(0))


# -----


@T.prim_func
def two_ends(x: T.handle, y: T.handle):
    n = T.int32()
    m = T.int32()
    X = T.match_buffer(x, (n,), "float32")
    Y = T.match_buffer(y, (m,), "float32")
    for i in range(m):
        # expected-error @below {{the range in which iter vi stores the value has no single bound; it depends on the sizes}}
        with T.block("Y"):
            vi = T.axis.spatial(m, i)
            Y[vi] = T.if_then_else(vi < n, X[vi], T.float32(0))


# -----


# The loop holds another block, which does not use Y.
# CHECK-LABEL: def beside(
@T.prim_func
def beside(X: T.Buffer((30,), "int32"), Y: T.Buffer((32,), "int32"), Z: T.Buffer((4,), "int32")):
    # CHECK: for i, j in T.grid(4, 8):
    # CHECK-NEXT: with T.block("Y_pad_const"):
    # CHECK: Y[vi] = 0
    # CHECK-NEXT: for i in range(4):
    # CHECK-NEXT: with T.block("Z"):
    # CHECK: with T.block("Y"):
    # CHECK: Y[vi + 1] = X[vi]
    for i in range(4):
        with T.block("Z"):
            vi = T.axis.spatial(4, i)
            Z[vi] = 1
        for j in range(8):
            with T.block("Y"):
                vi = T.axis.spatial(32, i * 8 + j)
                Y[vi] = T.if_then_else(vi >= 1 and vi < 31, X[vi - 1], 0)
