# RUN: tir-opt %s --split-input-file --verify-diagnostics --emit=script -p 'tir-cache-inplace{block=B buffer=B scope=local}' | FileCheck %s
# RUN: not tir-opt %s --split-input-file -p 'tir-cache-inplace{block=B buffer=A scope=local}' 2>&1 | FileCheck %s --check-prefix=READ
# RUN: not tir-opt %s --split-input-file -p 'tir-cache-inplace{block=B buffer=B scope=fast}' 2>&1 | FileCheck %s --check-prefix=SCOPE


# READ: error: {{.*}}block "B" reads A but does not write it; use cache_read
# SCOPE: error: {{.*}}'fast' is not a storage scope
# CHECK-LABEL: def rows(
@T.prim_func
def rows(A: T.Buffer((4, 8), "float32"), B: T.Buffer((4, 8), "float32")):
    # CHECK: B_local = T.alloc_buffer((4, 8), scope="local")
    # CHECK: for i in range(4):
    # CHECK-NEXT: for ax0, ax1 in T.grid(1, 8):
    # CHECK-NEXT: with T.block("B_local"):
    # CHECK-NEXT: v0 = T.axis.spatial(4, i + ax0)
    # CHECK: B_local[v0, v1] = B[v0, v1]
    # CHECK: B_local[vi, k] = B_local[vi, k] + A[vi, k]
    # CHECK: for ax0, ax1 in T.grid(1, 8):
    # CHECK: B[v0, v1] = B_local[v0, v1]
    for i in range(4):
        with T.block("B"):
            vi = T.axis.spatial(4, i)
            for k in range(8):
                B[vi, k] = B[vi, k] + A[vi, k]


# -----


@T.prim_func
def with_init(A: T.Buffer((4, 8), "float32"), B: T.Buffer((4,), "float32")):
    for i, k in T.grid(4, 8):
        # expected-error @below {{block "B" reads no buffers named 'B'; it reads 0: A}}
        with T.block("B"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                B[vi] = T.float32(0)
            B[vi] = B[vi] + A[vi, vk]


# -----


# The copies are outside the condition on data, which remains with its block.
# CHECK-LABEL: def on_data(
@T.prim_func
def on_data(A: T.Buffer((4, 8), "float32"), B: T.Buffer((4,), "float32")):
    # CHECK: B_local[v0] = B[v0]
    # CHECK-NEXT: with T.block("B"):
    # CHECK: T.where(A[i, k] > T.float32(0.0))
    # CHECK: B_local[vi] = B_local[vi] + A[vi, vk]
    # CHECK: B[v0] = B_local[v0]
    for i, k in T.grid(4, 8):
        with T.block("B"):
            vi, vk = T.axis.remap("SR", [i, k])
            T.where(A[i, k] > T.float32(0))
            B[vi] = B[vi] + A[vi, vk]
