# RUN: tir-opt %s --split-input-file --verify-diagnostics --emit=script -p 'tir-decompose-padding{block=Y loop=i}' | FileCheck %s


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
        # expected-error @below {{block "Y" stores no T.if_then_else(condition, value, constant) with a condition on its iters}}
        with T.block("Y"):
            vi = T.axis.spatial(16, i)
            Y[vi] = X[vi]


# -----


@T.prim_func
def values(X: T.Buffer((16,), "int32"), Y: T.Buffer((16,), "int32")):
    for i in range(16):
        # expected-error @below {{block "Y" chooses between two values; one of them must be a constant, the padding}}
        with T.block("Y"):
            vi = T.axis.spatial(16, i)
            Y[vi] = T.if_then_else(vi < 7, X[vi], X[0])


# -----


@T.prim_func
def every_other(X: T.Buffer((16,), "int32"), Y: T.Buffer((16,), "int32")):
    for i in range(16):
        # expected-error @below {{the iterations of block "Y" that take the value are no box: (vi = 1) lies between them and takes the constant}}
        with T.block("Y"):
            vi = T.axis.spatial(16, i)
            Y[vi] = T.if_then_else(vi % 2 == 0, X[vi], 0)


# -----


@T.prim_func
def never(X: T.Buffer((16,), "int32"), Y: T.Buffer((16,), "int32")):
    for i in range(16):
        # expected-error @below {{every iteration of block "Y" takes the value; there is no padding}}
        with T.block("Y"):
            vi = T.axis.spatial(16, i)
            Y[vi] = T.if_then_else(vi < 16, X[vi], 0)


# -----


@T.prim_func
def shared(X: T.Buffer((16,), "int32"), Y: T.Buffer((16,), "int32"), Z: T.Buffer((16,), "int32")):
    # expected-error @below {{the body of loop i holds more than the nest of "Y"}}
    for i in range(16):
        with T.block("Y"):
            vi = T.axis.spatial(16, i)
            Y[vi] = T.if_then_else(vi < 7, X[vi], 0)
        with T.block("Z"):
            vi = T.axis.spatial(16, i)
            Z[vi] = X[vi]


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
