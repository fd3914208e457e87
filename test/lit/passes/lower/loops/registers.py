# RUN: tir-opt %s --split-input-file --mlir-print-local-scope -p 'tir-lower-blocks,tir-lower-conditions,tir-lower-compact,tir-lower-hoist-guards,tir-lower-vectorize,tir-lower-unroll,tir-lower-registers' | FileCheck %s


# A sum of its own over two loops: both carry it; memory sees the start and the end.
# CHECK-LABEL: func.func @sums
# CHECK: %[[S:.*]] = memref.alloc()
# CHECK: %[[INIT:.*]] = affine.load %[[S]][0]
# CHECK: %[[ALL:.*]] = affine.for {{.*}} iter_args(%[[A:.*]] = %[[INIT]]) -> (f32) {
# CHECK-NEXT: %[[PART:.*]] = affine.for {{.*}} iter_args(%[[B:.*]] = %[[A]]) -> (f32) {
# CHECK-NOT: %[[S]]
# CHECK: %[[NEXT:.*]] = arith.addf %[[B]],
# CHECK-NEXT: affine.yield %[[NEXT]]
# CHECK: affine.yield %[[PART]]
# CHECK: affine.store %[[ALL]], %[[S]][0]
@T.prim_func
def sums(A: T.Buffer((8, 4, 5), "float32"), B: T.Buffer((8,), "float32")):
    S = T.alloc_buffer((8,), "float32", scope="local")
    for i in range(8):
        with T.block("S_init"):
            vi = T.axis.spatial(8, i)
            S[vi] = T.float32(0)
        for k, l in T.grid(4, 5):
            with T.block("S"):
                vi, vk, vl = T.axis.remap("SRR", [i, k, l])
                S[vi] = S[vi] + A[vi, vk, vl]
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = S[vi]


# -----


# A tile of vectors: one value a row.
# CHECK-LABEL: func.func @tile
# CHECK: affine.for {{.*}} iter_args({{.*}}, {{.*}}) -> (vector<8xf32>, vector<8xf32>) {
# CHECK-NOT: vector_store
# CHECK: affine.yield
@T.prim_func
def tile(A: T.Buffer((2, 9), "float32"), B: T.Buffer((9, 8), "float32"), C: T.Buffer((2, 8), "float32")):
    S = T.alloc_buffer((2, 8), "float32", scope="local")
    for i in range(2):
        for j in T.vectorized(8):
            with T.block("S_init"):
                vi, vj = T.axis.remap("SS", [i, j])
                S[vi, vj] = T.float32(0)
    for k in range(9):
        for i in T.unroll(2):
            for j in T.vectorized(8):
                with T.block("S"):
                    vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                    S[vi, vj] = S[vi, vj] + A[vi, vk] * B[vk, vj]
    for i, j in T.grid(2, 8):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = S[vi, vj]


# -----


# Neighbors in one buffer at positions that change, and parameters (which may overlap others), remain in memory.
# CHECK-LABEL: func.func @memory
# CHECK-NOT: iter_args
@T.prim_func
def memory(A: T.Buffer((9,), "float32"), B: T.Buffer((9,), "float32"), C: T.Buffer((1,), "float32")):
    S = T.alloc_buffer((9,), "float32", scope="local")
    for i in range(9):
        with T.block("S_init"):
            vi = T.axis.spatial(9, i)
            S[vi] = A[vi]
    for k in range(9):
        with T.block("S"):
            vk = T.axis.opaque(9, k)
            S[0] = S[0] + S[vk]
    for k in range(9):
        with T.block("C"):
            vk = T.axis.opaque(9, k)
            C[0] = C[0] + A[vk]
    for i in range(9):
        with T.block("B"):
            vi = T.axis.spatial(9, i)
            B[vi] = S[vi]
