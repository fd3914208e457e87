# RUN: tir-opt %s --split-input-file --verify-diagnostics --emit=script -p 'tir-cache-index{block=B scope=local cse_thresh=0}' | FileCheck %s
# RUN: not tir-opt %s --split-input-file -p 'tir-cache-index{block=B scope=local cse_thresh=3}' 2>&1 | FileCheck %s --check-prefix=OFTEN
# RUN: not tir-opt %s --split-input-file -p 'tir-cache-index{block=B scope=fast}' 2>&1 | FileCheck %s --check-prefix=SCOPE


# OFTEN: error: {{.*}}block "B" has no index expression, other than variables, that is used at least 3 times
# SCOPE: error: {{.*}}'fast' is not a storage scope
# CHECK-LABEL: def resized(
@T.prim_func
def resized(A: T.Buffer((20, 20), "float32"), B: T.Buffer((40, 40), "float32")):
    # CHECK: index_var_0 = T.alloc_buffer((40, 40), "int32", scope="local")
    # CHECK: index_var_1 = T.alloc_buffer((40,), "int32", scope="local")
    # CHECK: with T.block("index_0"):
    # CHECK: index_var_0[v0, v1] = v0 // 4 + v1 // 4
    # CHECK: with T.block("index_1"):
    # CHECK: index_var_1[v0] = v0 // 2
    # CHECK: with T.block("B"):
    # CHECK: A[vi // 4 + vj // 4, vj // 2]
    # CHECK: B[vi, vj] = A[index_var_0[vi, vj], index_var_1[vj]]
    for i, j in T.grid(40, 40):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi // 4 + vj // 4, vj // 2]


# -----


@T.prim_func
def plain(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
    for i in range(8):
        # expected-error @below {{block "B" has no index expression, other than variables, that is used at least 1 times}}
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = A[vi]


# -----


# Casts and floating-point arithmetic.
# CHECK-LABEL: def scaled(
@T.prim_func
def scaled(A: T.Buffer((20,), "float32"), B: T.Buffer((40,), "float32")):
    # CHECK: index_var_0 = T.alloc_buffer((40,), "int32", scope="local")
    # CHECK: with T.block("index_0"):
    # CHECK: index_var_0[v0] = T.Cast("int32", T.Cast("float32", v0) * T.float32(0.5))
    # CHECK: with T.block("B"):
    # CHECK: B[vi] = A[index_var_0[vi]]
    for i in range(40):
        with T.block("B"):
            vi = T.axis.spatial(40, i)
            B[vi] = A[T.Cast("int32", T.Cast("float32", vi) * T.float32(0.5))]


# -----


# A value that is computed from iters alone.
# CHECK-LABEL: def weighted(
@T.prim_func
def weighted(A: T.Buffer((40,), "float32"), B: T.Buffer((40,), "float32")):
    # CHECK: index_var_0 = T.alloc_buffer((40,), scope="local")
    # CHECK: index_var_0[v0] = T.Cast("float32", v0) * T.float32(0.5)
    # CHECK: B[vi] = A[vi] * index_var_0[vi]
    for i in range(40):
        with T.block("B"):
            vi = T.axis.spatial(40, i)
            B[vi] = A[vi] * (T.Cast("float32", vi) * T.float32(0.5))
