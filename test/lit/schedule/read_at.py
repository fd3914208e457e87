# RUN: tir-opt %s --emit=script -p 'tir-read-at{loop=j block=C buffer=0 scope=shared}' | FileCheck %s
# RUN: not tir-opt %s -p 'tir-read-at{loop=j block=C buffer=7 scope=shared}' 2>&1 | FileCheck %s --check-prefix=REFUSED


# REFUSED: error: read_at(loop=j, block='C', read_buffer_index=7, storage_scope='shared'): refused: block "C" has no number 7 among what it reads; it reads 0: A, 1: B
# CHECK: A_shared = T.alloc_buffer((8, 4), scope="shared")
# CHECK: for i, j in T.grid(8, 6):
# CHECK: with T.block("A_shared"):
# CHECK: v0 = T.axis.spatial(8, i)
# CHECK: T.reads(A[v0, 0:4])
# CHECK: T.writes(A_shared[v0, 0:4])
# CHECK: T.block_attr({"auto_copy": T.bool(True)})
# CHECK: for ax0, ax1 in T.grid(1, 4):
# CHECK: A_shared[v0 + ax0, ax1] = A[v0 + ax0, ax1]
# CHECK: for k in range(4):
# CHECK: T.reads(A_shared[vi, vk], B[vk, vj])
# CHECK: C[vi, vj] = C[vi, vj] + A_shared[vi, vk] * B[vk, vj]
@T.prim_func
def main(A: T.Buffer((8, 4), "float32"), B: T.Buffer((4, 6), "float32"), C: T.Buffer((8, 6), "float32")):
    for i, j, k in T.grid(8, 6, 4):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = 0.0
            C[vi, vj] += A[vi, vk] * B[vk, vj]
