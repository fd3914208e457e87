# RUN: tir-opt %s --split-input-file --mlir-print-local-scope -p 'tir-lower-blocks,tir-lower-gpu-memory,tir-lower-gpu-axes,tir-lower-gpu-barriers,tir-lower-gpu-shared-lives{shared=500}' | FileCheck %s
# RUN: tir-opt %s --split-input-file --mlir-print-local-scope -p 'tir-lower-blocks,tir-lower-gpu-memory,tir-lower-gpu-axes,tir-lower-gpu-barriers,tir-lower-gpu-shared-lives{shared=0}' | FileCheck %s --check-prefix=OFF


# OFF-NOT: tir.apart
# The barrier at the end of each iteration separates S from R, which is filled after the loop.
# CHECK-LABEL: func.func @in_turn
# CHECK-DAG: memref.alloc() {{.*}}tir.apart = ["R"]{{.*}}tir.name = "S"
# CHECK-DAG: memref.alloc() {{.*}}tir.apart = ["S"]{{.*}}tir.name = "R"
# CHECK-COUNT-3: gpu.barrier
# CHECK-NOT: gpu.barrier
@T.prim_func
def in_turn(A: T.Buffer((5, 64), "float32"), B: T.Buffer((5, 64), "float32")):
    for b in T.thread_binding(1, thread="blockIdx.x"):
        with T.block("all"):
            S = T.alloc_buffer((64,), scope="shared")
            R = T.alloc_buffer((64,), scope="shared")
            for k in range(5):
                for t in T.thread_binding(64, thread="threadIdx.x"):
                    with T.block("S"):
                        vk, vt = T.axis.remap("OS", [k, t])
                        S[vt] = A[vk, vt]
                for t in T.thread_binding(64, thread="threadIdx.x"):
                    with T.block("B"):
                        vk, vt = T.axis.remap("SS", [k, t])
                        B[vk, vt] = S[63 - vt]
            for t in T.thread_binding(64, thread="threadIdx.x"):
                with T.block("R"):
                    vt = T.axis.spatial(64, t)
                    R[vt] = A[0, vt]
            for t in T.thread_binding(64, thread="threadIdx.x"):
                with T.block("C"):
                    vt = T.axis.spatial(64, t)
                    B[0, vt] = B[0, vt] + R[63 - vt]


# -----


# 512 bytes do not fit: two barriers are inserted, one for the next iteration.
# CHECK-LABEL: func.func @in_a_loop
# CHECK-DAG: memref.alloc() {{.*}}tir.apart = ["R"]{{.*}}tir.name = "S"
# CHECK-DAG: memref.alloc() {{.*}}tir.apart = ["S"]{{.*}}tir.name = "R"
# CHECK-COUNT-4: gpu.barrier
# CHECK-NEXT: }
@T.prim_func
def in_a_loop(A: T.Buffer((5, 64), "float32"), B: T.Buffer((5, 64), "float32"), C: T.Buffer((5, 64), "float32")):
    for b in T.thread_binding(1, thread="blockIdx.x"):
        for k in range(5):
            with T.block("step"):
                vk = T.axis.spatial(5, k)
                S = T.alloc_buffer((64,), scope="shared")
                R = T.alloc_buffer((64,), scope="shared")
                for t in T.thread_binding(64, thread="threadIdx.x"):
                    with T.block("S"):
                        vt = T.axis.spatial(64, t)
                        S[vt] = A[vk, vt]
                for t in T.thread_binding(64, thread="threadIdx.x"):
                    with T.block("B"):
                        vt = T.axis.spatial(64, t)
                        B[vk, vt] = S[63 - vt]
                for t in T.thread_binding(64, thread="threadIdx.x"):
                    with T.block("R"):
                        vt = T.axis.spatial(64, t)
                        R[vt] = A[vk, vt] + T.float32(1)
                for t in T.thread_binding(64, thread="threadIdx.x"):
                    with T.block("C"):
                        vt = T.axis.spatial(64, t)
                        C[vk, vt] = R[63 - vt]


# -----


# Each iteration needs what the one before left in S.
# CHECK-LABEL: func.func @kept
# CHECK-NOT: tir.apart
@T.prim_func
def kept(A: T.Buffer((5, 64), "float32"), B: T.Buffer((5, 64), "float32")):
    for b in T.thread_binding(1, thread="blockIdx.x"):
        with T.block("all"):
            S = T.alloc_buffer((64,), scope="shared")
            R = T.alloc_buffer((64,), scope="shared")
            for t in T.thread_binding(64, thread="threadIdx.x"):
                with T.block("zero"):
                    vt = T.axis.spatial(64, t)
                    S[vt] = T.float32(0)
            for k in range(5):
                for t in T.thread_binding(64, thread="threadIdx.x"):
                    with T.block("S"):
                        vk, vt = T.axis.remap("OS", [k, t])
                        S[vt] = S[vt] + A[vk, vt]
                for t in T.thread_binding(64, thread="threadIdx.x"):
                    with T.block("R"):
                        vk, vt = T.axis.remap("OS", [k, t])
                        R[vt] = A[vk, vt]
                for t in T.thread_binding(64, thread="threadIdx.x"):
                    with T.block("B"):
                        vk, vt = T.axis.remap("SS", [k, t])
                        B[vk, vt] = R[63 - vt] + S[63 - vt]
