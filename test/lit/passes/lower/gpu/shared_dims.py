# RUN: tir-opt %s --mlir-print-local-scope -p 'tir-lower-blocks,tir-lower-gpu-memory,tir-lower-gpu-shared-dims' | FileCheck %s


# Threads fill the buffer by one linear index: it gets one dimension, and no divisions.
# CHECK-LABEL: func.func @linear
# CHECK: %[[S:.*]] = memref.alloc() {{.*}} : memref<60xf32, "shared">
# CHECK: affine.store %{{.*}}, %[[S]][%{{.*}}] : memref<60xf32, "shared">
# CHECK: affine.load %[[S]][%{{.*}} * 10 + %{{.*}}]
@T.prim_func
def linear(A: T.Buffer((6, 10), "float32"), B: T.Buffer((6, 10), "float32")):
    for i in T.thread_binding(1, thread="blockIdx.x"):
        with T.block("whole"):
            S = T.alloc_buffer((6, 10), "float32", scope="shared")
            for j in T.thread_binding(60, thread="threadIdx.x"):
                with T.block("S"):
                    vi = T.axis.spatial(6, j // 10)
                    vj = T.axis.spatial(10, j % 10)
                    S[vi, vj] = A[vi, vj]
            for u in range(6):
                for j in T.thread_binding(10, thread="threadIdx.x"):
                    with T.block("B"):
                        vi, vj = T.axis.remap("SS", [u, j])
                        B[vi, vj] = S[vi, vj]
