# RUN: tir-opt %s --split-input-file --verify-diagnostics --emit=script -p 'tir-reverse-compute-inline{block=B}' | FileCheck %s
# RUN: not tir-opt %S/Inputs/init_block.py --split-input-file -p 'tir-reverse-compute-inline{block=#4}' 2>&1 | FileCheck %s --check-prefix=INIT


# INIT: error: {{.*}}block "Y" stands in an init region; only blocks of a body can be merged
# CHECK-LABEL: def transposed(
@T.prim_func
def transposed(A: T.Buffer((4, 8), "float32"), B: T.Buffer((8, 4), "float32")):
    # CHECK-NOT: T.alloc_buffer
    # CHECK: with T.block("Y"):
    # CHECK-NOT: T.block("B")
    # CHECK: B[vj, vi] = A[vi, vj] + T.float32(1.0)
    Y = T.alloc_buffer((4, 8), "float32")
    for i, j in T.grid(4, 8):
        with T.block("Y"):
            vi, vj = T.axis.remap("SS", [i, j])
            Y[vi, vj] = A[vi, vj]
    for i, j in T.grid(8, 4):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = Y[vj, vi] + T.float32(1)


# -----


@T.prim_func
def several(A: T.Buffer((9,), "float32"), B: T.Buffer((8,), "float32")):
    Y = T.alloc_buffer((9,), "float32")
    for i in range(9):
        with T.block("Y"):
            vi = T.axis.spatial(9, i)
            Y[vi] = A[vi]
    for i in range(8):
        # expected-error @below {{block "B" reads Y at several indices; merging needs a single one}}
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = Y[vi] + Y[vi + 1]


# -----


@T.prim_func
def also_elsewhere(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32"), C: T.Buffer((8,), "float32")):
    Y = T.alloc_buffer((8,), "float32")
    for i in range(8):
        with T.block("Y"):
            vi = T.axis.spatial(8, i)
            Y[vi] = A[vi]
    for i in range(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = Y[vi]
    for i in range(8):
        # expected-error @below {{Y is also read outside block "B", so it must stay}}
        with T.block("C"):
            vi = T.axis.spatial(8, i)
            C[vi] = Y[vi]
