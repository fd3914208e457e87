# RUN: tir-opt %s -p 'tir-lower-blocks,tir-lower-parallel-threads' | FileCheck %s


# On a CPU the threads run one after the other; other kinds stay.
# CHECK: affine.for
# CHECK: affine.for
# CHECK-NOT: threadIdx
# CHECK: tir.kind = "parallel"
@T.prim_func
def main(A: T.Buffer((8, 4), "float32")):
    for i in T.parallel(8):
        for j in T.thread_binding(4, thread="threadIdx.x"):
            with T.block("A"):
                vi, vj = T.axis.remap("SS", [i, j])
                A[vi, vj] = T.float32(0)
