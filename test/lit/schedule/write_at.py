# RUN: tir-opt %s --emit=script -p 'tir-write-at{loop=j block=C buffer=0 scope=shared}' | FileCheck %s
# RUN: not tir-opt %s -p 'tir-write-at{loop=j block=C buffer=7 scope=shared}' 2>&1 | FileCheck %s --check-prefix=REFUSED


# REFUSED: error: write_at(loop=j, block='C', write_buffer_index=7, storage_scope='shared'): refused: block "C" has no number 7 among what it writes; it writes 0: C
# CHECK: C_shared = T.alloc_buffer((8, 6), scope="shared")
# CHECK: for i, j in T.grid(8, 6):
# CHECK: for k in range(4):
# CHECK: T.writes(C_shared[vi, vj])
# CHECK: C_shared[vi, vj] = T.float32(0.0)
# CHECK: C_shared[vi, vj] = C_shared[vi, vj] + A[vi, vk] * B[vk, vj]
# CHECK: with T.block("C_shared"):
# CHECK: v0, v1 = T.axis.remap("SS", [i, j])
# CHECK: T.reads(C_shared[v0, v1])
# CHECK: T.writes(C[v0, v1])
# CHECK: T.block_attr({"auto_copy": T.bool(True)})
# CHECK: for ax0, ax1 in T.grid(1, 1):
# CHECK: C[v0 + ax0, v1 + ax1] = C_shared[v0 + ax0, v1 + ax1]
@T.prim_func
def main(A: T.Buffer((8, 4), "float32"), B: T.Buffer((4, 6), "float32"), C: T.Buffer((8, 6), "float32")):
    for i, j, k in T.grid(8, 6, 4):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = 0.0
            C[vi, vj] += A[vi, vk] * B[vk, vj]
