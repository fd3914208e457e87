# RUN: tir-opt %s --split-input-file --mlir-print-local-scope -p 'tir-lower-blocks,tir-lower-gpu-memory,tir-lower-gpu-axes,tir-lower-gpu-barriers,tir-lower-gpu-copy-groups{asynchronous=true}' | FileCheck %s
# RUN: tir-opt %s --split-input-file --mlir-print-local-scope -p 'tir-lower-blocks,tir-lower-gpu-memory,tir-lower-gpu-axes,tir-lower-gpu-barriers,tir-lower-gpu-copy-groups' | FileCheck %s --check-prefix=OLD


# OLD-NOT: nvvm.cp.async
# What is read was copied two iterations before: one group may be pending at the barrier.
# CHECK-LABEL: func.func @two_ahead
# CHECK: memref.alloc() {{.*}}tir.copied_ahead{{.*}} : memref<3x64xf32, "shared">
# CHECK: affine.for
# CHECK: affine.store {{.*}} "shared">
# CHECK: nvvm.cp.async.commit.group
# CHECK: affine.load {{.*}} "shared">
# CHECK: nvvm.cp.async.wait.group 1
# CHECK-NEXT: gpu.barrier
# CHECK: nvvm.cp.async.wait.group 0
@T.prim_func
def two_ahead(A: T.Buffer((10, 64), "float32"), B: T.Buffer((10, 64), "float32")):
    for b in T.thread_binding(1, thread="blockIdx.x"):
        with T.block("all"):
            S = T.alloc_buffer((3, 64), "float32", scope="shared")
            for k in range(12):
                for t in T.thread_binding(64, thread="threadIdx.x"):
                    with T.block("S"):
                        vk, vt = T.axis.remap("OS", [k, t])
                        T.where(k < 10)
                        S[vk % 3, vt] = A[vk, vt]
                for t in T.thread_binding(64, thread="threadIdx.x"):
                    with T.block("B"):
                        vk = T.axis.opaque(10, k - 2)
                        vt = T.axis.spatial(64, t)
                        T.where(2 <= k)
                        B[vk, vt] = S[vk % 3, 63 - vt]


# -----


# What is read in the same iteration, and what is computed before it is stored, are no copies ahead.
# CHECK-LABEL: func.func @at_once
# CHECK-NOT: nvvm.cp.async
@T.prim_func
def at_once(A: T.Buffer((10, 64), "float32"), B: T.Buffer((10, 64), "float32")):
    for b in T.thread_binding(1, thread="blockIdx.x"):
        with T.block("all"):
            S = T.alloc_buffer((64,), "float32", scope="shared")
            R = T.alloc_buffer((2, 64), "float32", scope="shared")
            for k in range(10):
                for t in T.thread_binding(64, thread="threadIdx.x"):
                    with T.block("S"):
                        vk, vt = T.axis.remap("OS", [k, t])
                        S[vt] = A[vk, vt]
                for t in T.thread_binding(64, thread="threadIdx.x"):
                    with T.block("R"):
                        vk, vt = T.axis.remap("OS", [k, t])
                        R[vk % 2, vt] = A[vk, vt] + T.float32(1)
                for t in T.thread_binding(64, thread="threadIdx.x"):
                    with T.block("B"):
                        vk, vt = T.axis.remap("OS", [k, t])
                        B[vk, vt] = S[63 - vt] + R[vk % 2, 63 - vt]
