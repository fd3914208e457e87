# RUN: tir-opt %s --split-input-file --mlir-print-local-scope -p 'tir-lower-gpu-tma-copies{tma=true},tir-lower-blocks,tir-lower-gpu-memory,tir-lower-gpu-axes,tir-lower-gpu-barriers,tir-lower-gpu-channels' | FileCheck %s


# Two tiles are filled ahead; a tile is filled again once all threads have read it.
# CHECK-LABEL: func.func @ahead
# CHECK: builtin.unrealized_conversion_cast %arg0 {{.*}} {tir.tensor_map = {box = [64], swizzle = 0 : i64}}
# CHECK: memref.alloc() {{.*}}tir.tile_alignment = 128{{.*}} : memref<3x1x64xf32, "shared">
# CHECK: memref.alloc() {tir.name = "mbarriers"} : memref<3xi64, "shared">
# CHECK-COUNT-3: mbarrier.init
# CHECK: fence.mbarrier_init
# CHECK: gpu.barrier
# CHECK: affine.for {{.*}} = 0 to min affine_map<() -> (2, 8)>
# CHECK: mbarrier.arrive.expect_tx
# CHECK: cp.async.bulk.tensor.1d
# CHECK: affine.for %[[K:.*]] = 0 to 8
# CHECK: affine.apply affine_map<(d0) -> ((d0 floordiv 3) mod 2)>(%[[K]])
# CHECK: mbarrier.try_wait.parity
# CHECK-NEXT: gpu.barrier
# CHECK: affine.if {{.*}} -d{{[0-9]}} + 5 >= 0
# CHECK: cp.async.bulk.tensor.1d
# CHECK: affine.load %{{.*}}[%[[K]] mod 3, 0, -%{{.*}} + 63]
# CHECK-NOT: gpu.barrier
@T.prim_func
def ahead(A: T.Buffer((512,), "float32"), B: T.Buffer((8, 64), "float32")):
    S = T.alloc_buffer((64,), "float32", scope="shared")
    for b in T.thread_binding(1, thread="blockIdx.x"):
        for k in T.serial(8, annotations={"tma_pipeline": [3, 0]}):
            for i in range(64):
                with T.block("S"):
                    vk, vi = T.axis.remap("OS", [k, i])
                    T.block_attr({"tma_copy": 1})
                    S[vi] = A[vk * 64 + vi]
            for t in T.thread_binding(64, thread="threadIdx.x"):
                with T.block("B"):
                    vk, vt = T.axis.remap("SS", [k, t])
                    B[vk, vt] = S[63 - vt]


# -----


# A warp of its own copies; each warp that has read a tile says so.
# CHECK-LABEL: func.func @specialized
# CHECK: affine.for {{.*}} = 0 to 96
# CHECK-COUNT-4: mbarrier.init
# CHECK: affine.if {{.*}}d0 - 64 >= 0
# CHECK: affine.if {{.*}}d0 - 64 == 0
# CHECK: affine.for %[[P:.*]] = 0 to 8
# CHECK: affine.apply affine_map<(d0) -> ((d0 floordiv 2 + 1) mod 2)>(%[[P]])
# CHECK: mbarrier.try_wait.parity
# CHECK: cp.async.bulk.tensor.1d
# CHECK: affine.if {{.*}}-d0 + 63 >= 0
# CHECK: affine.for %[[K:.*]] = 0 to 8
# CHECK: mbarrier.try_wait.parity
# CHECK: affine.load %{{.*}}[%[[K]] mod 2, 0,
# CHECK: nvvm.bar.warp.sync
# CHECK-NEXT: affine.if {{.*}} mod 32 == 0
# CHECK: mbarrier.arrive
# CHECK-NOT: gpu.barrier
@T.prim_func
def specialized(A: T.Buffer((512,), "float32"), B: T.Buffer((8, 64), "float32")):
    S = T.alloc_buffer((64,), "float32", scope="shared")
    for b in T.thread_binding(1, thread="blockIdx.x"):
        for k in T.serial(8, annotations={"tma_pipeline": [2, 1]}):
            for i in range(64):
                with T.block("S"):
                    vk, vi = T.axis.remap("OS", [k, i])
                    T.block_attr({"tma_copy": 1})
                    S[vi] = A[vk * 64 + vi]
            for t in T.thread_binding(64, thread="threadIdx.x"):
                with T.block("B"):
                    vk, vt = T.axis.remap("SS", [k, t])
                    B[vk, vt] = S[63 - vt]
