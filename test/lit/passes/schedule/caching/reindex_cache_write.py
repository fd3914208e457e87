# RUN: tir-opt %s --split-input-file --verify-diagnostics --emit=script -p 'tir-reindex-cache-write{block=B buffer=B scope=shared index_map="lambda i, j: (j // 4, i, j % 4)"}' | FileCheck %s
# RUN: not tir-opt %s --split-input-file -p 'tir-reindex-cache-write{block=B buffer=B scope=fast index_map="lambda i, j: (i, j)"}' 2>&1 | FileCheck %s --check-prefix=SCOPE
# RUN: not tir-opt %s --split-input-file -p 'tir-reindex-cache-write{block=B buffer=B scope=shared index_map="lambda i: i"}' 2>&1 | FileCheck %s --check-prefix=ARITY
# RUN: not tir-opt %s --split-input-file -p 'tir-reindex-cache-write{block=B buffer=B scope=shared index_map="lambda i, j: (i, i)"}' 2>&1 | FileCheck %s --check-prefix=ITERS
# RUN: not tir-opt %s --split-input-file -p 'tir-reindex-cache-write{block=B buffer=B scope=shared index_map="lambda i, j: (i // 2, j)"}' 2>&1 | FileCheck %s --check-prefix=CELL
# RUN: not tir-opt %s --split-input-file -p 'tir-reindex-cache-write{block=B buffer=B scope=shared index_map="lambda i, j: (i, j - 1)"}' 2>&1 | FileCheck %s --check-prefix=BELOW
# RUN: not tir-opt %s --split-input-file -p 'tir-reindex-cache-write{block=B buffer=7 scope=shared index_map="lambda i, j: (i, j)"}' 2>&1 | FileCheck %s --check-prefix=NUMBER


# SCOPE: error: {{.*}}'fast' is not a storage scope
# ARITY: error: {{.*}}takes 1 indices; there are 2
# ITERS: error: {{.*}}the index of B uses the iters (vi, vj), but the map lambda i, j: (i, i) uses (vi); they must be the same
# CELL: error: {{.*}}B(vi=0, vj=0) and B(vi=1, vj=0) would share an element of the cache, but access
# BELOW: error: {{.*}}an index must not be negative
# NUMBER: error: {{.*}}block "B" has no buffer number 7 among those it writes; it writes 0: B
# CHECK-LABEL: def packed(
@T.prim_func
def packed(A: T.Buffer((8, 4), "float32"), B: T.Buffer((4, 8), "float32")):
    # CHECK: B_shared = T.alloc_buffer((2, 4, 4), scope="shared")
    # CHECK: B_shared[vj // 4, vi, vj % 4] = A[vj, vi]
    # CHECK: for i, j in T.grid(4, 8):
    # CHECK-NEXT: with T.block("B_shared"):
    # CHECK: B[vi, vj] = B_shared[vj // 4, vi, vj % 4]
    for i, j in T.grid(4, 8):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vj, vi]


# -----


@T.prim_func
def before(A: T.Buffer((4, 8), "float32"), B: T.Buffer((4, 8), "float32")):
    for i, j in T.grid(4, 8):
        # expected-error @below {{at B(i=0, j=0) the block reads an element of the buffer before it writes it; in a cache it would be uninitialized: the block needs an init or a first write}}
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] + B[vi, vj]


# -----


@T.prim_func
def two_cells(A: T.Buffer((4, 8), "float32"), B: T.Buffer((11,), "float32")):
    for i, j in T.grid(4, 8):
        # expected-error @below {{B(vi=0, vj=1) and B(vi=1, vj=0) both access B[1], but would use two elements of the cache}}
        with T.block("B"):
            vi = T.axis.opaque(4, i)
            vj = T.axis.opaque(8, j)
            B[vi + vj] = A[vi, vj]
