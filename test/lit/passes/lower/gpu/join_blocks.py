# RUN: tir-opt %s --mlir-print-local-scope -p 'tir-lower-gpu-cut-blocks,tir-lower-blocks,tir-lower-gpu-axes,tir-lower-gpu-join-blocks' | FileCheck %s


# The digits of a fused index are one axis again.
# CHECK-LABEL: func.func @fused
# CHECK: affine.for %[[B:.*]] = 0 to 24
# CHECK: affine.load %{{.*}}[%[[B]] floordiv 4, (%[[B]] mod 4) * 8 + %{{.*}}]
# CHECK: tir.kind = "blockIdx.x", tir.loop = "b"
@T.prim_func
def fused(A: T.Buffer((6, 32), "float32"), B: T.Buffer((6, 32), "float32")):
    for b in T.thread_binding(24, thread="blockIdx.x"):
        for t in T.thread_binding(8, thread="threadIdx.x"):
            with T.block("B"):
                vi = T.axis.spatial(6, b // 4)
                vj = T.axis.spatial(32, b % 4 * 8 + t)
                B[vi, vj] = A[vi, vj]
