# RUN: tir-opt %s --mlir-print-local-scope -p 'tir-lower-strides-align,tir-lower-blocks,tir-lower-gpu-memory,tir-lower-gpu-axes,tir-lower-gpu-barriers,tir-lower-strides,tir-lower-gpu-swizzles' | FileCheck %s


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


# Two tiles in one buffer: the second begins at a multiple of all bits that the xor reads, and is added behind it.
# CHECK-LABEL: func.func @two_tiles
# CHECK: memref.alloc() {{.*}} : memref<2048xf32, "shared">
# CHECK: %[[A:.*]] = affine.apply affine_map<(d0, d1) -> (d0 * 32 + d1)>
# CHECK: %[[X:.*]] = arith.xori %[[A]]
# CHECK: %[[P:.*]] = affine.apply affine_map<(d0) -> (d0 * 1024)>
# CHECK: %[[AT:.*]] = arith.addi %[[X]], %[[P]]
# CHECK: memref.store %{{.*}}, %{{.*}}[%[[AT]]]
@T.prim_func
def two_tiles(A: T.Buffer((2, 32, 32), "float32"), B: T.Buffer((2, 32, 32), "float32")):
    for b in T.thread_binding(1, thread="blockIdx.x"):
        with T.block("tile"):
            S = T.alloc_buffer((2, 32, 32), "float32", scope="shared")
            for n in range(2):
                for i in T.thread_binding(32, thread="threadIdx.y"):
                    for j in T.thread_binding(32, thread="threadIdx.x"):
                        with T.block("S"):
                            vn, vi, vj = T.axis.remap("SSS", [n, i, j])
                            T.block_attr({"swizzle": [0]})
                            S[vn, vi, vj] = A[vn, vi, vj]
            for n in range(2):
                for i in T.thread_binding(32, thread="threadIdx.y"):
                    for j in T.thread_binding(32, thread="threadIdx.x"):
                        with T.block("B"):
                            vn, vi, vj = T.axis.remap("SSS", [n, i, j])
                            B[vn, vi, vj] = S[vn, vj, vi]


# Padded rows in another kernel: their strides stand next to the allocation, inside of its axes.
# CHECK-LABEL: func.func @padded_beside
# CHECK: arith.xori
# CHECK: memref.reinterpret_cast %{{.*}} strides: [36, 1] : memref<1152xf32, "shared">
@T.prim_func
def padded_beside(A: T.Buffer((32, 32), "float32"), B: T.Buffer((32, 32), "float32"), C: T.Buffer((32, 32), "float32")):
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
    for b in T.thread_binding(1, thread="blockIdx.x"):
        with T.block("padded"):
            P = T.alloc_buffer((32, 32), "float32", scope="shared")
            for i in T.thread_binding(32, thread="threadIdx.y"):
                for j in T.thread_binding(32, thread="threadIdx.x"):
                    with T.block("P"):
                        vi, vj = T.axis.remap("SS", [i, j])
                        T.block_attr({"buffer_dim_align": [[0, 0, 32, 4]]})
                        P[vi, vj] = A[vi, vj]
            for i in T.thread_binding(32, thread="threadIdx.y"):
                for j in T.thread_binding(32, thread="threadIdx.x"):
                    with T.block("C"):
                        vi, vj = T.axis.remap("SS", [i, j])
                        C[vi, vj] = P[vi, vj]
