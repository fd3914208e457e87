# RUN: tir-opt %s --mlir-print-local-scope -p 'tir-lower-gpu-cut-blocks,tir-lower-blocks' | FileCheck %s


# The digits of a fused index are loops of their own.
# CHECK-LABEL: func.func @fused
# CHECK: affine.for %[[Y:.*]] = 0 to 6
# CHECK: affine.for %[[X:.*]] = 0 to 4
# CHECK: affine.load %{{.*}}[%[[Y]], %[[X]] * 8 + %{{.*}}]
# CHECK: tir.kind = "blockIdx.x/1", tir.loop = "b_1"
# CHECK: tir.kind = "blockIdx.x/4", tir.loop = "b_0"
@T.prim_func
def fused(A: T.Buffer((6, 32), "float32"), B: T.Buffer((6, 32), "float32")):
    for b in T.thread_binding(24, thread="blockIdx.x"):
        for t in T.thread_binding(8, thread="threadIdx.x"):
            with T.block("B"):
                vi = T.axis.spatial(6, b // 4)
                vj = T.axis.spatial(32, b % 4 * 8 + t)
                B[vi, vj] = A[vi, vj]


# An index that is divided together with that of a thread has no digits of its own.
# CHECK-LABEL: func.func @split
# CHECK: tir.kind = "blockIdx.x", tir.loop = "b"
@T.prim_func
def split(A: T.Buffer((6, 10), "float32"), B: T.Buffer((6, 10), "float32")):
    for b in T.thread_binding(15, thread="blockIdx.x"):
        for t in T.thread_binding(4, thread="threadIdx.x"):
            with T.block("B"):
                vi = T.axis.spatial(6, (b * 4 + t) // 10)
                vj = T.axis.spatial(10, (b * 4 + t) % 10)
                B[vi, vj] = A[vi, vj]
