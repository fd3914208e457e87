# RUN: tir-opt %s --emit=script -p 'tir-swizzle{block=S buffer_index=0},tir-swizzle{block=S buffer_index=S}' | FileCheck %s
# RUN: not tir-opt %s -p 'tir-swizzle{block=B buffer_index=0}' 2>&1 | FileCheck %s --check-prefix=PARAM
# RUN: not tir-opt %s -p 'tir-set-scope{block=S buffer_index=0 storage_scope=local},tir-swizzle{block=S buffer_index=0}' 2>&1 | FileCheck %s --check-prefix=SCOPE
# RUN: not tir-opt %s -p 'tir-storage-align{block=S buffer_index=0 axis=0 factor=32 offset=1},tir-swizzle{block=S buffer_index=0}' 2>&1 | FileCheck %s --check-prefix=ALIGNED
# RUN: not tir-opt %s -p 'tir-swizzle{block=S buffer_index=1}' 2>&1 | FileCheck %s --check-prefix=INDEX


# PARAM: B is a parameter of the function, whose addresses the caller chooses
# SCOPE: S_local is of scope "local"; only shared memory has banks
# ALIGNED: the rows of S are padded by storage_align, which serves the same end
# INDEX: block "S" has no buffer number 1 among those it writes
# CHECK: with T.block("S"):
# CHECK: T.block_attr({"swizzle": [0]})
@T.prim_func
def main(A: T.Buffer((16, 10), "float32"), B: T.Buffer((10, 16), "float32")):
    S = T.alloc_buffer((16, 10), "float32", scope="shared")
    for i, j in T.grid(16, 10):
        with T.block("S"):
            vi, vj = T.axis.remap("SS", [i, j])
            S[vi, vj] = A[vi, vj]
    for i, j in T.grid(10, 16):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = S[vj, vi]
