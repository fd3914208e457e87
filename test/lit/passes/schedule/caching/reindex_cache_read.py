# RUN: tir-opt %s --split-input-file --verify-diagnostics --emit=script -p 'tir-reindex-cache-read{block=B buffer=A scope=shared index_map="lambda i, j: (j // 4, i, j % 4)"}' | FileCheck %s
# RUN: not tir-opt %s --split-input-file -p 'tir-reindex-cache-read{block=B buffer=A scope=fast index_map="lambda i, j: (i, j)"}' 2>&1 | FileCheck %s --check-prefix=SCOPE
# RUN: not tir-opt %s --split-input-file -p 'tir-reindex-cache-read{block=B buffer=A scope=shared index_map="lambda i: i"}' 2>&1 | FileCheck %s --check-prefix=ARITY
# RUN: not tir-opt %s --split-input-file -p 'tir-reindex-cache-read{block=B buffer=A scope=shared index_map="lambda i, j: (i, i)"}' 2>&1 | FileCheck %s --check-prefix=ITERS
# RUN: not tir-opt %s --split-input-file -p 'tir-reindex-cache-read{block=B buffer=A scope=shared index_map="lambda i, j: (i // 2, j)"}' 2>&1 | FileCheck %s --check-prefix=CELL
# RUN: not tir-opt %s --split-input-file -p 'tir-reindex-cache-read{block=B buffer=A scope=shared index_map="lambda i, j: (i, j - 1)"}' 2>&1 | FileCheck %s --check-prefix=BELOW
# RUN: not tir-opt %s --split-input-file -p 'tir-reindex-cache-read{block=B buffer=7 scope=shared index_map="lambda i, j: (i, j)"}' 2>&1 | FileCheck %s --check-prefix=NUMBER
# RUN: not tir-opt %s --split-input-file -p 'tir-reindex-cache-read{block=B buffer=A scope=shared index_map="lambda i, j: (i * 4294967296, j * 4294967296)"}' 2>&1 | FileCheck %s --check-prefix=HUGE


# SCOPE: error: {{.*}}'fast' is not a storage scope
# ARITY: error: {{.*}}takes 1 indices; there are 2
# ITERS: error: {{.*}}the index of A uses the iters (vi, vj), but the map lambda i, j: (i, i) uses (vi); they must be the same
# CELL: error: {{.*}}B(vi=0, vj=0) and B(vi=1, vj=0) would share an element of the cache, but access
# BELOW: error: {{.*}}an index must not be negative
# HUGE: error: {{.*}}the result would violate the verifier rule 'sizes': A_shared of 12884901889 x 30064771073 has more elements than 64 bits can count
# NUMBER: error: {{.*}}block "B" has no buffer number 7 among those it reads; it reads 0: A
# CHECK-LABEL: def packed(
@T.prim_func
def packed(A: T.Buffer((8, 4), "float32"), B: T.Buffer((4, 8), "float32")):
    # CHECK: A_shared = T.alloc_buffer((2, 4, 4), scope="shared")
    # CHECK: for i, j in T.grid(4, 8):
    # CHECK-NEXT: with T.block("A_shared"):
    # CHECK-NEXT: vi, vj = T.axis.remap("SS", [i, j])
    # CHECK-NEXT: T.reads(A[vj, vi])
    # CHECK-NEXT: T.writes(A_shared[vj // 4, vi, vj % 4])
    # CHECK: B[vi, vj] = A_shared[vj // 4, vi, vj % 4]
    for i, j in T.grid(4, 8):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vj, vi]


# -----


# Computed in the same loop: behind the writer, over the loops that are inside.
# CHECK-LABEL: def in_a_loop(
@T.prim_func
def in_a_loop(X: T.Buffer((4, 8), "float32"), B: T.Buffer((4, 8), "float32")):
    A = T.alloc_buffer((4, 8), "float32")
    # CHECK: for i in range(4):
    for i in range(4):
        # CHECK: with T.block("A"):
        for j in range(8):
            with T.block("A"):
                vi, vj = T.axis.remap("SS", [i, j])
                A[vi, vj] = X[vi, vj]
        # CHECK: for j in range(8):
        # CHECK-NEXT: with T.block("A_shared"):
        # CHECK-NEXT: vi, vj = T.axis.remap("SS", [i, j])
        for j in range(8):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj]


# -----


@T.prim_func
def its_own(A: T.Buffer((4, 8), "float32"), B: T.Buffer((4, 8), "float32")):
    for i, j in T.grid(4, 8):
        # expected-error @below {{block "B" writes A itself and must see its own writes}}
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            A[vi, vj] = A[vi, vj] + B[vi, vj]
