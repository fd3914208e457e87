# RUN: tir-opt %s --emit=script -p 'tir-reindex-cache-write{block=C buffer=0 scope=local index_map="lambda i, j, k: (j, i)"}' | FileCheck %s
# RUN: not tir-opt %s -p 'tir-reindex-cache-write{block=C buffer=0 scope=local index_map="lambda i, j, k: (j, k)"}' 2>&1 | FileCheck %s --check-prefix=REFUSED


# REFUSED: error: reindex_cache_write(block='C', write_buffer_index=0, storage_scope='local', index_map=lambda i, j, k: (j, k)): refused: the index of C uses the iters (vi, vj), the map lambda i, j, k: (j, k) uses (vj, vk); they must be the same
# CHECK: C_local = T.alloc_buffer((6, 8), scope="local")
# CHECK: T.writes(C_local[vj, vi])
# CHECK: C_local[vj, vi] = T.float32(0.0)
# CHECK: C_local[vj, vi] = C_local[vj, vi] + A[vi, vk] * B[vk, vj]
# CHECK: for i, j in T.grid(8, 6):
# CHECK: with T.block("C_local"):
# CHECK: vi, vj = T.axis.remap("SS", [i, j])
# CHECK: T.reads(C_local[vj, vi])
# CHECK: C[vi, vj] = C_local[vj, vi]
@T.prim_func
def main(A: T.Buffer((8, 4), "float32"), B: T.Buffer((4, 6), "float32"), C: T.Buffer((8, 6), "float32")):
    for i, j, k in T.grid(8, 6, 4):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = 0.0
            C[vi, vj] += A[vi, vk] * B[vk, vj]
