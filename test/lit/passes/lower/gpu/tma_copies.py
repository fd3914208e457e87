# RUN: tir-opt %s -p 'tir-lower-gpu-tma-copies{tma=true},tir-lower-blocks' | FileCheck %s
# RUN: tir-opt %s -p 'tir-lower-gpu-tma-copies{emulated=true},tir-lower-blocks' | FileCheck %s --check-prefix=CPU
# RUN: not tir-opt %s -p 'tir-lower-gpu-tma-copies{chip=sm_80}' 2>&1 | FileCheck %s --check-prefix=OLD


# One thread makes the copy; its buffer is marked, so that barriers leave its order to the channel.
# CHECK: memref.alloc() {{.*}}tir.tma_tile
# CHECK: affine.for %[[K:.*]] = 0 to 4
# CHECK-NEXT: affine.for %{{.*}} = 0 to 1
# CHECK-NEXT: affine.for %{{.*}} = 0 to 16
# CHECK: tir.kind = "threadIdx.x", tir.loop = "one"
# CHECK: tma_pipeline
# CPU-NOT: tir.tma_tile
# CPU: affine.for %{{.*}} = 0 to 1
# CPU-NOT: tma_pipeline
# OLD: block "S" is a copy by the TMA, which sm_80 does not have; fix: build for "sm_90a"
@T.prim_func
def main(A: T.Buffer((64,), "float32"), B: T.Buffer((4, 16), "float32")):
    S = T.alloc_buffer((16,), "float32", scope="shared")
    for b in T.thread_binding(1, thread="blockIdx.x"):
        for k in T.serial(4, annotations={"tma_pipeline": [2, 0]}):
            for i in range(16):
                with T.block("S"):
                    vk, vi = T.axis.remap("OS", [k, i])
                    T.block_attr({"tma_copy": 1})
                    S[vi] = A[vk * 16 + vi]
            for t in T.thread_binding(16, thread="threadIdx.x"):
                with T.block("B"):
                    vk, vt = T.axis.remap("SS", [k, t])
                    B[vk, vt] = S[15 - vt]
