# RUN: tir-opt %s --mlir-print-local-scope -p 'tir-lower-strides-align,tir-lower-blocks,tir-lower-gpu-memory,tir-lower-gpu-axes,tir-lower-gpu-barriers,tir-lower-gpu-swizzles' | FileCheck %s


# The number of the column is xored with that of the row: the lanes that read a column are in 32 banks.
# CHECK-LABEL: func.func @transposed
# CHECK: %[[S:.*]] = memref.alloc() {{.*}} : memref<1024xf32, "shared">
# CHECK: %[[A:.*]] = affine.apply {{.*}} * 32
# CHECK: %[[ABOVE:.*]] = arith.shrui %[[A]], %c5
# CHECK: %[[BITS:.*]] = arith.andi %[[ABOVE]], %c31
# CHECK: %[[AT:.*]] = arith.xori %[[A]], %[[BITS]]
# CHECK: memref.store %{{.*}}, %[[S]][%[[AT]]]
# CHECK: arith.xori
# CHECK: memref.load %[[S]]
@T.prim_func
def transposed(A: T.Buffer((32, 32), "float32"), B: T.Buffer((32, 32), "float32")):
    for b in T.thread_binding(1, thread="blockIdx.x"):
        with T.block("tile"):
            S = T.alloc_buffer((32, 32), "float32", scope="shared")
            for i in T.thread_binding(32, thread="threadIdx.y"):
                for j in T.thread_binding(32, thread="threadIdx.x"):
                    with T.block("S"):
                        vi, vj = T.axis.remap("SS", [i, j])
                        T.block_attr({"swizzle": [0]})
                        S[vi, vj] = A[vi, vj]
            for i in T.thread_binding(32, thread="threadIdx.y"):
                for j in T.thread_binding(32, thread="threadIdx.x"):
                    with T.block("B"):
                        vi, vj = T.axis.remap("SS", [i, j])
                        B[vi, vj] = S[vj, vi]
