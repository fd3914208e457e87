# RUN: tir-opt %s --split-input-file --verify-diagnostics --emit=script -p 'tir-compute-at{block=Y loop=B:i}' | FileCheck %s
# RUN: not tir-opt %S/Inputs/init_block.py --split-input-file -p 'tir-compute-at{block=#4 loop=#5}' 2>&1 | FileCheck %s --check-prefix=INIT


# INIT: error: {{.*}}block "Y" stands in an init region; only blocks of a body can move
# Just what the consumer needs in one iteration.
# CHECK-LABEL: def stencil(
@T.prim_func
def stencil(A: T.Buffer((66,), "float32"), B: T.Buffer((4, 16), "float32")):
    Y = T.alloc_buffer((66,), "float32")
    for i in range(66):
        with T.block("Y"):
            vi = T.axis.spatial(66, i)
            Y[vi] = A[vi]
    # CHECK: for i in range(4):
    # CHECK-NEXT: for ax0 in range(18):
    # CHECK-NEXT: with T.block("Y"):
    # CHECK-NEXT: vi = T.axis.spatial(66, i * 16 + ax0)
    # CHECK: for j in range(16):
    # CHECK-NEXT: with T.block("B"):
    for i, j in T.grid(4, 16):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = Y[vi * 16 + vj] + Y[vi * 16 + vj + 2]


# -----


@T.prim_func
def output(A: T.Buffer((8,), "float32"), Y: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
    for k in range(8):
        # expected-error @below {{block "Y" writes Y, which lives outside its scope}}
        with T.block("Y"):
            vi = T.axis.spatial(8, k)
            Y[vi] = A[vi]
    for i in range(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = Y[vi]


# -----


@T.prim_func
def other_consumer(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32"), C: T.Buffer((8,), "float32")):
    Y = T.alloc_buffer((8,), "float32")
    for k in range(8):
        with T.block("Y"):
            vi = T.axis.spatial(8, k)
            Y[vi] = A[vi]
    for i in range(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = Y[vi]
    for j in range(8):
        # expected-error @below {{the consumer "C" of block "Y" is not beneath loop i, so it would read values that are not computed yet}}
        with T.block("C"):
            vi = T.axis.spatial(8, j)
            C[vi] = Y[vi]


# -----


@T.prim_func
def already(A: T.Buffer((8, 8), "float32"), B: T.Buffer((8, 8), "float32")):
    Y = T.alloc_buffer((8, 8), "float32")
    # expected-error @below {{loop i is already around block "Y"}}
    for i in range(8):
        for j in range(8):
            with T.block("Y"):
                vi, vj = T.axis.remap("SS", [i, j])
                Y[vi, vj] = A[vi, vj]
        for j in range(8):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = Y[vi, vj]
