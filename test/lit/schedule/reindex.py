# RUN: tir-opt %s --emit=script -p 'tir-reindex{block=C buffer=B}' | FileCheck %s
# RUN: not tir-opt %s -p 'tir-reindex{block=C buffer=D}' 2>&1 | FileCheck %s --check-prefix=REFUSED


# REFUSED: error: reindex(block='C', buffer='D'): refused: block "C" neither reads nor writes a buffer 'D'; it accesses A, B, C
# CHECK: B_reindex = T.alloc_buffer((6, 4))
# CHECK: for ax0, ax1 in T.grid(6, 4):
# CHECK: with T.block("B_reindex_reindex"):
# CHECK: v0, v1 = T.axis.remap("SS", [ax0, ax1])
# CHECK: T.reads(B[v1, v0])
# CHECK: T.writes(B_reindex[v0, v1])
# CHECK: B_reindex[v0, v1] = B[v1, v0]
# CHECK: T.reads(A[vi, vk], B_reindex[vj, vk])
# CHECK: C[vi, vj] = C[vi, vj] + A[vi, vk] * B_reindex[vj, vk]
@T.prim_func
def main(A: T.Buffer((8, 4), "float32"), B: T.Buffer((4, 6), "float32"), C: T.Buffer((8, 6), "float32")):
    for i, j, k in T.grid(8, 6, 4):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = 0.0
            C[vi, vj] += A[vi, vk] * B[vk, vj]
