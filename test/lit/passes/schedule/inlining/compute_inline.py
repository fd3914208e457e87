# RUN: tir-opt %s --split-input-file --verify-diagnostics --emit=script -p 'tir-compute-inline{block=Y}' | FileCheck %s
# RUN: not tir-opt %S/../Inputs/init_block.py --split-input-file -p 'tir-compute-inline{block=#4}' 2>&1 | FileCheck %s --check-prefix=INIT


# INIT: error: {{.*}}block "Y" is in an init region; only blocks of a body can be inlined
# CHECK-LABEL: def shifted(
@T.prim_func
def shifted(A: T.Buffer((9,), "float32"), B: T.Buffer((8,), "float32")):
    # CHECK-NOT: T.alloc_buffer
    # CHECK-NOT: T.block("Y")
    # CHECK: B[vi] = A[vi] * T.float32(2.0) + A[vi + 1] * T.float32(2.0)
    Y = T.alloc_buffer((9,), "float32")
    for i in range(9):
        with T.block("Y"):
            vi = T.axis.spatial(9, i)
            Y[vi] = A[vi] * T.float32(2)
    for i in range(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = Y[vi] + Y[vi + 1]


# -----


@T.prim_func
def output(A: T.Buffer((8,), "float32"), Y: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
    for i in range(8):
        # expected-error @below {{block "Y" computes Y, which is visible outside its scope; an output block must remain}}
        with T.block("Y"):
            vi = T.axis.spatial(8, i)
            Y[vi] = A[vi]
    for i in range(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = Y[vi]


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
def gathered(A: T.Buffer((9,), "float32"), X: T.Buffer((8,), "int32"), B: T.Buffer((8,), "float32")):
    Y = T.alloc_buffer((9,), "float32")
    for i in range(9):
        with T.block("Y"):
            vi = T.axis.spatial(9, i)
            Y[8 - vi] = A[vi]
    for i in range(8):
        # expected-error @below {{block "B" reads Y at a non-affine index, which cannot be solved for the iters of block "Y"}}
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = Y[X[vi]]


# -----


@T.prim_func
def a_view(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
    Y = T.alloc_buffer((8,), "float32")
    for i in range(8):
        with T.block("Y"):
            vi = T.axis.spatial(8, i)
            Y[vi] = A[vi]
    for i in range(2):
        # expected-error @below {{Y is used as a whole by memref.subview, not loaded by element; it must remain a buffer}}
        with T.block("B"):
            vi = T.axis.spatial(2, i)
            V = T.match_buffer(Y[vi * 4:vi * 4 + 4], (4,))
            B[vi * 4] = V[0]


# -----


@T.prim_func
def a_call(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
    Y = T.alloc_buffer((8,), "float32")
    for i in range(8):
        # expected-error @below {{block "Y" contains func.call, which inlining would move or duplicate; its body must be one store of a pure value}}
        with T.block("Y"):
            vi = T.axis.spatial(8, i)
            T.evaluate(T.call_extern("int32", "log", 3))
            Y[vi] = A[vi]
    for i in range(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = Y[vi]


# -----


@T.prim_func
def through_a_view(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
    Y = T.alloc_buffer((8,), "float32")
    for i in range(8):
        # expected-error @below {{block "Y" stores through a view, which inlining does not support}}
        with T.block("Y"):
            vi = T.axis.spatial(8, i)
            V = T.match_buffer(Y[vi:vi + 1], (1,), offset_factor=1)
            V[0] = A[vi]
    for i in range(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = Y[vi]


# -----


@T.prim_func
def the_only_one(A: T.Buffer((8,), "float32")):
    Y = T.alloc_buffer((8,), "float32")
    for i in range(8):
        # expected-error @below {{block "Y" is the only one in its scope; nothing would be left without it}}
        with T.block("Y"):
            vi = T.axis.spatial(8, i)
            Y[vi] = A[vi]


# -----


@T.prim_func
def a_value(A: T.Buffer((8,), "float32"), X: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
    Y = T.alloc_buffer((8,), "float32")
    for i in range(8):
        x = X[i]
        # expected-error @below {{block "Y" uses a value of affine.load that is not visible where it would be inlined; compute it inside the block}}
        with T.block("Y"):
            vi = T.axis.spatial(8, i)
            Y[vi] = A[vi] * x
    for i in range(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = Y[vi]


# -----


@T.prim_func
def a_condition_by_a_gather(A: T.Buffer((9,), "float32"), X: T.Buffer((8,), "int32"), B: T.Buffer((8,), "float32")):
    Y = T.alloc_buffer((9,), "float32")
    for i in range(9):
        with T.block("Y"):
            vi = T.axis.spatial(9, i)
            Y[vi] = T.if_then_else(vi > 2, A[vi], T.float32(0))
    for i in range(8):
        # expected-error @below {{a condition in the inlined block (affine.if) would depend on a non-affine index}}
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = Y[X[vi]]


# -----


@T.prim_func
def mixed(A: T.Buffer((2, 8), "float32"), B: T.Buffer((2, 8), "float32")):
    for o in range(2):
        with T.block("outer"):
            vo = T.axis.spatial(2, o)
            Y = T.alloc_buffer((16,), "float32")
            for i in range(8):
                # expected-error @below {{the index of block "Y" mixes its iters with those of an enclosing block in a way that cannot be solved}}
                with T.block("Y"):
                    vi = T.axis.spatial(8, i)
                    Y[(vi + vo * 8 + 4) % 16] = A[vo, vi]
            for i in range(8):
                with T.block("B"):
                    vi = T.axis.spatial(8, i)
                    B[vo, vi] = Y[(vo * 8 + vi + 4) % 16]


# -----


# Each iteration of j computes row i of X again: Y keeps its value.
# CHECK-LABEL: def computed_again(
@T.prim_func
def computed_again(A: T.Buffer((4, 8), "float32"), B: T.Buffer((4, 8), "float32")):
    # CHECK-NOT: T.block("Y")
    # CHECK: B[vi, vj] = X[vi, vj] + T.float32(1.0)
    X = T.alloc_buffer((4, 8), "float32")
    Y = T.alloc_buffer((4, 8), "float32")
    for i in range(4):
        for j in range(8):
            for k in range(8):
                with T.block("X"):
                    vi, vk = T.axis.remap("SS", [i, k])
                    X[vi, vk] = A[vi, vk]
            with T.block("Y"):
                vi, vj = T.axis.remap("SS", [i, j])
                Y[vi, vj] = X[vi, vj] + T.float32(1)
        for j in range(8):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = Y[vi, vj]


# -----


# Later iterations of i write other rows of X.
# CHECK-LABEL: def later_rows(
@T.prim_func
def later_rows(A: T.Buffer((6, 5), "float32"), B: T.Buffer((6, 5), "float32")):
    # CHECK: B[vi, vj] = X[5 - vi, 4 - vj]
    X = T.alloc_buffer((6, 5), "float32")
    Y = T.alloc_buffer((6, 5), "float32")
    for i in range(6):
        for j in range(5):
            with T.block("X"):
                vi, vj = T.axis.remap("SS", [i, j])
                X[vi, vj] = A[vi, vj]
        for j in range(5):
            with T.block("Y"):
                vi, vj = T.axis.remap("SS", [i, j])
                Y[vi, vj] = X[vi, 4 - vj]
    for i, j in T.grid(6, 5):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = Y[5 - vi, vj]


# -----


# What is gone is not prefetched.
# CHECK-LABEL: def prefetched(
@T.prim_func
def prefetched(A: T.Buffer((8, 16), "float32"), B: T.Buffer((8, 16), "float32")):
    # CHECK: for i in T.serial(8, annotations={"prefetch": ["A"]}):
    # CHECK-NEXT: for j in range(16):
    # CHECK: B[vi, vj] = A[vi, vj] + T.float32(1.0)
    Y = T.alloc_buffer((8, 16), "float32")
    for i, j in T.grid(8, 16):
        with T.block("Y"):
            vi, vj = T.axis.remap("SS", [i, j])
            Y[vi, vj] = A[vi, vj]
    for i in T.serial(8, annotations={"prefetch": ["Y", "A"]}):
        for j in T.serial(16, annotations={"prefetch": "Y"}):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = Y[vi, vj] + T.float32(1)
