# RUN: tir-opt %s --emit=script -p 'tir-reindex-cache-read{block=C buffer=1 scope=local index_map="lambda i, j, k: (j, k)"}' | FileCheck %s
# RUN: not tir-opt %s -p 'tir-reindex-cache-read{block=C buffer=1 scope=local index_map="lambda i, j, k: (i, k)"}' 2>&1 | FileCheck %s --check-prefix=REFUSED


# REFUSED: error: reindex_cache_read(block='C', read_buffer_index=1, storage_scope='local', index_map=lambda i, j, k: (i, k)): refused: the index of B uses the iters (vj, vk), the map lambda i, j, k: (i, k) uses (vi, vk); they must be the same
# CHECK: B_local = T.alloc_buffer((6, 4), scope="local")
# CHECK: for j, k in T.grid(6, 4):
# CHECK: with T.block("B_local"):
# CHECK: vj, vk = T.axis.remap("SS", [j, k])
# CHECK: T.reads(B[vk, vj])
# CHECK: T.writes(B_local[vj, vk])
# CHECK: B_local[vj, vk] = B[vk, vj]
# CHECK: T.reads(A[vi, vk], B_local[vj, vk])
# CHECK: C[vi, vj] = C[vi, vj] + A[vi, vk] * B_local[vj, vk]
@T.prim_func
def main(A: T.Buffer((8, 4), "float32"), B: T.Buffer((4, 6), "float32"), C: T.Buffer((8, 6), "float32")):
    for i, j, k in T.grid(8, 6, 4):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = 0.0
            C[vi, vj] += A[vi, vk] * B[vk, vj]
