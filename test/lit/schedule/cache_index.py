# RUN: tir-opt %s --emit=script -p 'tir-cache-index{block=B scope=global}' | FileCheck %s
# RUN: not tir-opt %s -p 'tir-cache-index{block=B scope=nowhere}' 2>&1 | FileCheck %s --check-prefix=REFUSED


# REFUSED: error: cache_index(block='B', storage_scope='nowhere', cse_thresh=0): refused: 'nowhere' is not a storage scope; use global, global.<tag>, shared, shared.dyn, warp, local or wmma.<fragment>
# CHECK: index_var_0 = T.alloc_buffer((16, 10), "int32")
# CHECK: index_var_1 = T.alloc_buffer((10,), "int32")
# CHECK: for ax0, ax1 in T.grid(16, 10):
# CHECK: with T.block("index_0"):
# CHECK: v0, v1 = T.axis.remap("SS", [ax0, ax1])
# CHECK: T.reads()
# CHECK: T.writes(index_var_0[v0, v1])
# CHECK: index_var_0[v0, v1] = v0 // 4 * 2 + v1
# CHECK: for ax0 in range(10):
# CHECK: with T.block("index_1"):
# CHECK: v0 = T.axis.spatial(10, ax0)
# CHECK: T.reads()
# CHECK: T.writes(index_var_1[v0])
# CHECK: index_var_1[v0] = v0 + 1
@T.prim_func
def main(A: T.Buffer((32, 20), "float32"), B: T.Buffer((16, 10), "float32")):
    for i, j in T.grid(16, 10):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi // 4 * 2 + vj, vj] + A[vi // 4 * 2 + vj, vj + 1]
