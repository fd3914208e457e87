# RUN: tir-opt %s --mlir-print-local-scope -p 'tir-lower-strides-align,tir-lower-blocks,tir-lower-gpu-memory,tir-lower-gpu-axes,tir-lower-gpu-barriers,tir-lower-gpu-copy-groups{asynchronous=true},tir-lower-gpu-vectors,tir-lower-strides,tir-lower-gpu-async-copies' 2>&1 | FileCheck %s


# Four elements are one copy, in padded rows too; two bytes are none.
# CHECK: async_copies.py:{{.*}} what is copied to H is loaded and stored: an asynchronous copy is of 4, 8 or 16 bytes; vectorize the copy
# CHECK: vector.load %arg0
# CHECK-NOT: vector.extract
# CHECK: vector.store {{.*}} {alignment = 16 : i64, nontemporal = true} : memref<2x256xf32, strided<[264, 1]>, "shared">
# CHECK: affine.store {{.*}} : memref<2x64xf16, "shared">
# CHECK: nvvm.cp.async.commit.group
@T.prim_func
def main(A: T.Buffer((10, 256), "float32"), C: T.Buffer((10, 64), "float16"), B: T.Buffer((10, 64), "float32")):
    for b in T.thread_binding(1, thread="blockIdx.x"):
        with T.block("all"):
            S = T.alloc_buffer((2, 256), "float32", scope="shared")
            H = T.alloc_buffer((2, 64), "float16", scope="shared")
            for k in range(11):
                for t in T.thread_binding(64, thread="threadIdx.x"):
                    for v in T.vectorized(4):
                        with T.block("S"):
                            vk = T.axis.opaque(10, k)
                            vt = T.axis.spatial(256, t * 4 + v)
                            T.where(k < 10)
                            T.block_attr({"buffer_dim_align": [[0, 0, 512, 264]]})
                            S[vk % 2, vt] = A[vk, vt]
                for t in T.thread_binding(64, thread="threadIdx.x"):
                    with T.block("H"):
                        vk, vt = T.axis.remap("OS", [k, t])
                        T.where(k < 10)
                        H[vk % 2, vt] = C[vk, vt]
                for t in T.thread_binding(64, thread="threadIdx.x"):
                    with T.block("B"):
                        vk = T.axis.opaque(10, k - 1)
                        vt = T.axis.spatial(64, t)
                        T.where(1 <= k)
                        B[vk, vt] = S[vk % 2, 63 - vt] + T.Cast("float32", H[vk % 2, 63 - vt])


# Neither of two kernels has a copy that can be asynchronous: both lose their groups.
# CHECK-LABEL: func.func @two_without
# CHECK-NOT: nvvm.cp.async
# CHECK: return
@T.prim_func
def two_without(A: T.Buffer((10, 64), "float16"), B: T.Buffer((10, 64), "float16"), C: T.Buffer((10, 64), "float16")):
    for b in T.thread_binding(1, thread="blockIdx.x"):
        with T.block("first"):
            S = T.alloc_buffer((2, 64), "float16", scope="shared")
            for k in range(11):
                for t in T.thread_binding(64, thread="threadIdx.x"):
                    with T.block("S"):
                        vk, vt = T.axis.remap("OS", [k, t])
                        T.where(k < 10)
                        S[vk % 2, vt] = A[vk, vt]
                for t in T.thread_binding(64, thread="threadIdx.x"):
                    with T.block("B"):
                        vk, vt = T.axis.opaque(10, k - 1), T.axis.spatial(64, t)
                        T.where(1 <= k)
                        B[vk, vt] = S[vk % 2, 63 - vt]
    for b in T.thread_binding(1, thread="blockIdx.x"):
        with T.block("second"):
            R = T.alloc_buffer((2, 64), "float16", scope="shared")
            for k in range(11):
                for t in T.thread_binding(64, thread="threadIdx.x"):
                    with T.block("R"):
                        vk, vt = T.axis.remap("OS", [k, t])
                        T.where(k < 10)
                        R[vk % 2, vt] = A[vk, vt]
                for t in T.thread_binding(64, thread="threadIdx.x"):
                    with T.block("C"):
                        vk, vt = T.axis.opaque(10, k - 1), T.axis.spatial(64, t)
                        T.where(1 <= k)
                        C[vk, vt] = R[vk % 2, 63 - vt]
