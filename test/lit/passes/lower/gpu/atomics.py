# RUN: tir-opt %s --split-input-file --mlir-print-local-scope -p 'tir-lower-fastmath,tir-lower-blocks,tir-lower-gpu-memory,tir-lower-gpu-atomics,tir-lower-gpu-block-copies,tir-lower-gpu-axes,tir-lower-gpu-barriers' | FileCheck %s


# Threads update elements that data choose; the counts of a block are complete at the barrier, and blocks add them up.
# CHECK-LABEL: func.func @counts
# CHECK: affine.store {{.*}} "shared">
# CHECK: gpu.barrier
# CHECK: memref.atomic_rmw addi {{.*}} "shared">
# CHECK: gpu.barrier
# CHECK: %[[S:.*]] = affine.load {{.*}} "shared">
# CHECK: memref.atomic_rmw addi %[[S]], {{.*}} : (i32, memref<64xi32>) -> i32
@T.prim_func
def counts(X: T.Buffer((4, 64), "int32"), H: T.Buffer((64,), "int32")):
    for b in T.thread_binding(4, thread="blockIdx.x"):
        with T.block("part"):
            vb = T.axis.reduce(4, b)
            S = T.alloc_buffer((64,), "int32", scope="shared")
            for t in T.thread_binding(64, thread="threadIdx.x"):
                with T.block("clear"):
                    vt = T.axis.spatial(64, t)
                    S[vt] = 0
            for t in T.thread_binding(64, thread="threadIdx.x"):
                with T.block("count"):
                    vt = T.axis.reduce(64, t)
                    S[X[vb, vt]] += 1
            for t in T.thread_binding(64, thread="threadIdx.x"):
                with T.block("H"):
                    vt = T.axis.spatial(64, t)
                    H[vt] += S[vt]


# -----


# Each thread has elements of its own, and another order of floats is not allowed.
# CHECK-LABEL: func.func @own
# CHECK-NOT: atomic_rmw
@T.prim_func
def own(A: T.Buffer((4, 64), "float32"), B: T.Buffer((64,), "float32")):
    for t in T.thread_binding(64, thread="threadIdx.x"):
        for k in range(4):
            with T.block("B"):
                vk, vt = T.axis.remap("RS", [k, t])
                B[vt] += A[vk, vt]
