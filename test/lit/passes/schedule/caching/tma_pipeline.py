# RUN: tir-opt %s --emit=script -p 'tir-tma-pipeline{copies=S loop=S:k stages=3 specialize=true}' | FileCheck %s
# RUN: not tir-opt %s -p 'tir-tma-pipeline{copies=S loop=S:k stages=1}' 2>&1 | FileCheck %s --check-prefix=ONE
# RUN: not tir-opt %s -p 'tir-tma-pipeline{copies=G loop=S:k}' 2>&1 | FileCheck %s --check-prefix=SCOPE
# RUN: not tir-opt %s -p 'tir-vectorize{loop=S:i},tir-tma-pipeline{copies=S loop=S:k}' 2>&1 | FileCheck %s --check-prefix=BOUND
# RUN: not tir-opt %s -p 'tir-bind{loop=S:k thread_axis=blockIdx.x},tir-tma-pipeline{copies=S loop=S:k}' 2>&1 | FileCheck %s --check-prefix=SERIAL
# RUN: not tir-opt %s -p 'tir-tma-pipeline{copies=S loop=S:k},tir-tma-pipeline{copies=S loop=S:k}' 2>&1 | FileCheck %s --check-prefix=TWICE
# RUN: not tir-opt %s -p 'tir-tma-pipeline{copies=T loop=S:k}' 2>&1 | FileCheck %s --check-prefix=FIRST


# ONE: stages is at least 2, not 1
# SCOPE: G is of scope "global"; the TMA fills shared memory
# BOUND: loop i around the copy is vectorized; one thread starts the copy of a whole tile
# SERIAL: loop k is bound to blockIdx.x; tma_pipeline it before binding
# TWICE: loop k has annotations
# FIRST: block T stores a value that it computes; the TMA copies elements
# CHECK: for k in T.serial(4, annotations={"tma_pipeline": [3, 1]}):
# CHECK: with T.block("S"):
# CHECK: T.block_attr({"tma_copy": 1})
@T.prim_func
def main(A: T.Buffer((64,), "float32"), B: T.Buffer((64,), "float32")):
    S = T.alloc_buffer((64,), "float32", scope="shared")
    G = T.alloc_buffer((64,), "float32")
    U = T.alloc_buffer((64,), "float32", scope="shared")
    for k in range(4):
        for i in range(16):
            with T.block("S"):
                v = T.axis.spatial(64, k * 16 + i)
                S[v] = A[v]
        for i in range(16):
            with T.block("G"):
                v = T.axis.spatial(64, k * 16 + i)
                G[v] = A[v]
        for i in range(16):
            with T.block("T"):
                v = T.axis.spatial(64, k * 16 + i)
                U[v] = A[v] + T.float32(1)
        for i in range(16):
            with T.block("B"):
                v = T.axis.spatial(64, k * 16 + i)
                B[v] = S[v] * U[v] + G[v]
