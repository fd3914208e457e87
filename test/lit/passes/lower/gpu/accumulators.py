# RUN: tir-opt %s --split-input-file --mlir-print-local-scope --verify-diagnostics -p 'tir-lower-strides-align,tir-lower-gpu-tma-copies{tma=true},tir-lower-blocks,tir-lower-gpu-warpgroups{wgmma=true},tir-lower-gpu-memory,tir-lower-gpu-axes,tir-lower-gpu-barriers,tir-lower-gpu-channels,tir-lower-gpu-accumulators' | FileCheck %s


# Registers of a thread; a product of four steps along k; each thread stores its elements.
# CHECK-LABEL: func.func @product
# CHECK: memref.alloc() {{.*}} : memref<32xf32, "local">
# CHECK: affine.store %cst, %{{.*}}[
# CHECK: wgmma.fence.sync.aligned
# CHECK-COUNT-4: nvvm.wgmma.mma_async %{{.*}}, <m = 64, n = 64, k = 16>, D[<f32>, <one>], A[<f16>, <one>, <row>], B[<f16>, <one>, <row>]
# CHECK: nvvm.wgmma.commit.group.sync.aligned
# CHECK: wgmma.wait_group.sync.aligned 0
# CHECK: affine.store %{{.*}}[(%[[T:.*]] floordiv 4) mod 8 + %{{.*}} * 8 + ((%[[T]] floordiv 32) mod 4) * 16, %{{.*}} * 8 + %{{.*}} + (%[[T]] mod 4) * 2] : memref<64x64xf32>
@T.prim_func
def product(A: T.Buffer((64, 64), "float16"), B: T.Buffer((64, 64), "float16"), C: T.Buffer((64, 64), "float32")):
    S = T.alloc_buffer((64, 64), "float32", scope="wgmma.accumulator")
    A_s = T.alloc_buffer((64, 64), "float16", scope="shared")
    B_s = T.alloc_buffer((64, 64), "float16", scope="shared")
    for b in T.thread_binding(1, thread="blockIdx.x"):
        for i, j in T.grid(64, 64):
            with T.block("zero"):
                vi, vj = T.axis.remap("SS", [i, j])
                S[vi, vj] = T.float32(0)
        for k in T.serial(1, annotations={"tma_pipeline": [2, 0]}):
            for i, j in T.grid(64, 64):
                with T.block("A_s"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    T.block_attr({"swizzle": [0], "tma_copy": 1})
                    A_s[vi, vj] = A[vi, vj]
            for i, j in T.grid(64, 64):
                with T.block("B_s"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    T.block_attr({"swizzle": [0], "tma_copy": 1})
                    B_s[vi, vj] = B[vi, vj]
            for i, j, q in T.grid(64, 64, 64):
                with T.block("S"):
                    vi, vj, vq = T.axis.remap("SSR", [i, j, q])
                    S[vi, vj] = S[vi, vj] + T.Cast("float32", A_s[vi, vq]) * T.Cast("float32", B_s[vq, vj])
        for i, j in T.grid(64, 64):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = S[vi, vj]


# -----


@T.prim_func
def shared(A: T.Buffer((64, 8), "float32")):
    R = T.alloc_buffer((64, 8), "float32", scope="shared")
    S = T.alloc_buffer((64, 8), "float32", scope="wgmma.accumulator")
    for b in T.thread_binding(1, thread="blockIdx.x"):
        for i, j in T.grid(64, 8):
            with T.block("S"):
                vi, vj = T.axis.remap("SS", [i, j])
                S[vi, vj] = T.float32(1)
        for i, j in T.grid(64, 8):
            with T.block("R"):
                vi, vj = T.axis.remap("SS", [i, j])
                # expected-error @below {{R is accessed by a nest on an accumulator and by other statements of the kernel}}
                R[vi, vj] = S[vi, vj]
        for i, j in T.grid(64, 8):
            with T.block("A"):
                vi, vj = T.axis.remap("SS", [i, j])
                A[vi, vj] = R[vi, 7 - vj]


# -----


@T.prim_func
def turned(A: T.Buffer((64, 8), "float32")):
    S = T.alloc_buffer((64, 8), "float32", scope="wgmma.accumulator")
    R = T.alloc_buffer((64, 8), "float32", scope="wgmma.accumulator")
    for b in T.thread_binding(1, thread="blockIdx.x"):
        for i, j in T.grid(64, 8):
            with T.block("S"):
                vi, vj = T.axis.remap("SS", [i, j])
                S[vi, vj] = T.float32(1)
        for i, j in T.grid(64, 8):
            with T.block("R"):
                vi, vj = T.axis.remap("SS", [i, j])
                # expected-error @below {{a nest on an accumulator indexes it by j * -1 + 7, not by a loop over all 8 of them}}
                R[vi, vj] = S[vi, 7 - vj]
        for i, j in T.grid(64, 8):
            with T.block("A"):
                vi, vj = T.axis.remap("SS", [i, j])
                A[vi, vj] = R[vi, vj]
