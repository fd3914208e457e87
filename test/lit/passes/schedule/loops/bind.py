# RUN: tir-opt %s --split-input-file --verify-diagnostics --emit=script -p 'tir-bind{loop=i thread_axis=threadIdx.x}' | FileCheck %s
# RUN: not tir-opt %s -p 'tir-bind{loop=i thread_axis=threadIdx.w}' --split-input-file 2>&1 | FileCheck %s --check-prefix=AXIS


# AXIS: error: {{.*}}"threadIdx.w" is not a thread axis; use one of blockIdx.x
# CHECK-LABEL: def threads(
@T.prim_func
def threads(A: T.Buffer((8,), "float32")):
    # CHECK: for i in T.thread_binding(8, thread="threadIdx.x"):
    for i in range(8):
        with T.block("A"):
            vi = T.axis.spatial(8, i)
            A[vi] = T.float32(0)


# -----


@T.prim_func
def chain(A: T.Buffer((9,), "float32")):
    # expected-error @below {{loop i cannot be bound to threadIdx.x: two of its iterations depend on each other}}
    for i in range(8):
        with T.block("A"):
            T.reads(A[i])
            T.writes(A[i + 1])
            A[i + 1] = A[i]
