# RUN: tir-opt %s --split-input-file --verify-diagnostics --emit=script -p 'tir-cache-write{block=B buffer=0 scope=local}' | FileCheck %s
# RUN: not tir-opt %s --split-input-file -p 'tir-cache-write{block=B buffer=Z scope=local}' 2>&1 | FileCheck %s --check-prefix=NAME
# RUN: not tir-opt %S/../Inputs/init_block.py --split-input-file -p 'tir-cache-write{block=#4 buffer=0 scope=local}' 2>&1 | FileCheck %s --check-prefix=INIT


# INIT: error: {{.*}}block "Y" is in an init region; pass the block around it
# NAME: error: {{.*}}block "B" writes no buffers named 'Z'; it writes 0: C
# CHECK-LABEL: def accumulate(
@T.prim_func
def accumulate(A: T.Buffer((8, 4), "float32"), C: T.Buffer((8,), "float32")):
    # CHECK: C_local = T.alloc_buffer((8,), scope="local")
    # CHECK: with T.block("B"):
    # CHECK: T.writes(C_local[vi])
    # CHECK: with T.init():
    # CHECK-NEXT: C_local[vi] = T.float32(0.0)
    # CHECK-NEXT: C_local[vi] = C_local[vi] + A[vi, vk]
    # CHECK: for ax0 in range(8):
    # CHECK-NEXT: with T.block("C_local"):
    # CHECK: C[v0] = C_local[v0]
    for i, k in T.grid(8, 4):
        with T.block("B"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                C[vi] = T.float32(0)
            C[vi] = C[vi] + A[vi, vk]


# -----


@T.prim_func
def no_init(A: T.Buffer((8, 4), "float32"), C: T.Buffer((8,), "float32")):
    for i, k in T.grid(8, 4):
        # expected-error @below {{at B(i=0, k=0) the block reads an element of the buffer before it writes it}}
        with T.block("B"):
            vi, vk = T.axis.remap("SR", [i, k])
            C[vi] = C[vi] + A[vi, vk]


# -----


@T.prim_func
def two_writers(A: T.Buffer((8,), "float32"), C: T.Buffer((8,), "float32")):
    for i in range(8):
        with T.block("first"):
            vi = T.axis.spatial(8, i)
            C[vi] = A[vi]
    for i in range(8):
        # expected-error @below {{C is written by several blocks ("first", "B")}}
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            C[vi] = A[vi] + A[vi]


# -----


@T.prim_func
def loose(A: T.Buffer((8,), "float32"), C: T.Buffer((8,), "float32")):
    Y = T.alloc_buffer((8,), "float32")
    for i in range(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            Y[vi] = A[vi]
    # expected-error @below {{Y is read outside any block of the scope, which a write-back could miss}}
    for i in range(8):
        C[i] = Y[i]


# -----


@T.prim_func(check_well_formed=False)
def two_branches(A: T.Buffer((8,), "float32"), C: T.Buffer((8,), "float32"), n: T.int32):
    Y = T.alloc_buffer((8,), "float32")
    if n > 3:
        for i in range(8):
            with T.block("B"):
                vi = T.axis.spatial(8, i)
                Y[vi] = A[vi]
    else:
        for i in range(8):
            # expected-error @below {{the writer and the first reader of Y are in two branches of one condition}}
            with T.block("C"):
                vi = T.axis.spatial(8, i)
                C[vi] = Y[vi]


# -----


@T.prim_func
def written_outside(A: T.Buffer((8,), "float32"), Y: T.Buffer((8,), "float32")):
    # expected-error @below {{Y is also written outside any block of the scope; a cached buffer needs a single writer}}
    for i in range(8):
        Y[i] = T.float32(0)
    for i in range(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            Y[vi] = A[vi]


# -----


@T.prim_func(check_well_formed=False)
def reader_ahead(A: T.Buffer((8,), "float32"), C: T.Buffer((8,), "float32")):
    Y = T.alloc_buffer((8,), "float32")
    for i in range(8):
        # expected-error @below {{block "C" reads Y before block "B" in the same loop, and would miss the write of the previous iteration}}
        with T.block("C"):
            vi = T.axis.spatial(8, i)
            C[vi] = Y[vi]
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            Y[vi] = A[vi]


# -----


@T.prim_func
def holes(A: T.Buffer((8,), "float32"), Y: T.Buffer((16,), "float32")):
    for i in range(8):
        # expected-error @below {{block "B" does not fill a box: the copy would also take Y_local[1], which it does not write}}
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            Y[vi * 2] = A[vi]


# -----


@T.prim_func
def a_view_outside(A: T.Buffer((8,), "float32"), Z: T.Buffer((8,), "float32")):
    with T.block("outer"):
        Y = T.match_buffer(Z[0:8], (8,))
        for i in range(8):
            # expected-error @below {{Z is accessed through Y, a view made outside the block; cache it in the scope of that view}}
            with T.block("B"):
                vi = T.axis.spatial(8, i)
                Y[vi] = A[vi]
