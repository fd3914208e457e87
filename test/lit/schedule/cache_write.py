# RUN: tir-opt %s --split-input-file --verify-diagnostics --emit=script -p 'tir-cache-write{block=B buffer=0 scope=local}' | FileCheck %s
# RUN: not tir-opt %s --split-input-file -p 'tir-cache-write{block=B buffer=Z scope=local}' 2>&1 | FileCheck %s --check-prefix=NAME
# RUN: not tir-opt %S/Inputs/init_block.py --split-input-file -p 'tir-cache-write{block=#4 buffer=0 scope=local}' 2>&1 | FileCheck %s --check-prefix=INIT


# INIT: error: {{.*}}block "Y" stands in an init region; name the block around it
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
        # expected-error @below {{the block reads what the buffer held before it wrote there}}
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
