# RUN: tir-opt %s --emit=script -p 'tir-cache-inplace{block=A buffer=0 scope=local}' | FileCheck %s
# RUN: not tir-opt %s -p 'tir-cache-inplace{block=C buffer=0 scope=local}' 2>&1 | FileCheck %s --check-prefix=REFUSED


# REFUSED: error: cache_inplace(block='C', read_buffer_index=0, storage_scope='local'): refused: block "C" reads A but does not write it; cache_read is for that
# CHECK: A_local = T.alloc_buffer((8,), scope="local")
# CHECK: for ax0 in range(1):
# CHECK: with T.block("A_local"):
# CHECK: v0 = T.axis.spatial(8, i + ax0)
# CHECK: T.reads(A[v0])
# CHECK: T.writes(A_local[v0])
# CHECK: A_local[v0] = A[v0]
# CHECK: T.reads(A_local[vi])
# CHECK: T.writes(A_local[vi])
# CHECK: A_local[vi] = A_local[vi] * T.float32(2.0)
# CHECK: for ax0 in range(1):
# CHECK: with T.block("A_local"):
# CHECK: v0 = T.axis.spatial(8, i + ax0)
# CHECK: T.reads(A_local[v0])
@T.prim_func
def main(A: T.Buffer((8,), "float32"), C: T.Buffer((8,), "float32")):
    for i in range(8):
        with T.block("A"):
            vi = T.axis.spatial(8, i)
            A[vi] = A[vi] * 2.0
    for i in range(8):
        with T.block("C"):
            vi = T.axis.spatial(8, i)
            C[vi] = A[vi]
