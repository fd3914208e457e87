# RUN: tir-opt %s --split-input-file --mlir-print-local-scope -p 'tir-lower-blocks,tir-lower-gpu-memory,tir-lower-gpu-vthreads' | FileCheck %s


# The copy to shared memory is done once for all virtual threads, each of which has its own sums.
# CHECK-LABEL: func.func @sums
# CHECK-DAG: %[[L:.*]] = memref.alloc() {{.*}}tir.name = "L"{{.*}} : memref<2x1xf32, "local">
# CHECK-DAG: %[[S:.*]] = memref.alloc() {{.*}}tir.name = "S"{{.*}} : memref<8xf32, "shared">
# CHECK: affine.for %[[T:.*]] = 0 to 8 {
# CHECK: affine.for %[[V:.*]] = 0 to 2 {
# CHECK: affine.store %{{.*}}, %[[L]][%[[V]], 0]
# CHECK: tir.kind = "unrolled"
# CHECK: affine.for %[[K:.*]] = 0 to 4 {
# CHECK-NOT: affine.for
# CHECK: affine.store %{{.*}}, %[[S]][%{{.*}}]
# CHECK: affine.for %[[W:.*]] = 0 to 2 {
# CHECK: affine.load %arg1[%[[W]], %[[K]]]
# CHECK: affine.store %{{.*}}, %[[L]][%[[W]], 0]
# CHECK: tir.kind = "unrolled"
# CHECK-NOT: vthread
@T.prim_func
def sums(A: T.Buffer((4, 8), "float32"), B: T.Buffer((2, 4), "float32"), C: T.Buffer((2, 8), "float32")):
    for v in T.thread_binding(2, thread="vthread.x"):
        for t in T.thread_binding(8, thread="threadIdx.x"):
            with T.block("whole"):
                vv, vt = T.axis.remap("SS", [v, t])
                L = T.alloc_buffer((1,), "float32", scope="local")
                S = T.alloc_buffer((8,), "float32", scope="shared")
                with T.block("init"):
                    L[0] = T.float32(0)
                for k in range(4):
                    with T.block("S"):
                        vk = T.axis.opaque(4, k)
                        S[vt] = A[vk, vt]
                    with T.block("L"):
                        vk = T.axis.opaque(4, k)
                        L[0] = L[0] + S[vt] * B[vv, vk]
                with T.block("C"):
                    C[vv, vt] = L[0]


# -----


# A shared buffer that each virtual thread fills with values of its own: the loop stays, serial.
# CHECK-LABEL: func.func @own
# CHECK: affine.for %[[V:.*]] = 0 to 2 {
# CHECK: affine.for %[[T:.*]] = 0 to 8 {
# CHECK: affine.store %{{.*}}, %{{.*}}[%[[T]]] : memref<8xf32, "shared">
# CHECK: affine.store %{{.*}}, %arg1[%[[V]], %[[T]]]
# CHECK-NOT: vthread
@T.prim_func
def own(A: T.Buffer((2, 8), "float32"), C: T.Buffer((2, 8), "float32")):
    for v in T.thread_binding(2, thread="vthread.x"):
        for t in T.thread_binding(8, thread="threadIdx.x"):
            with T.block("whole"):
                vv, vt = T.axis.remap("SS", [v, t])
                S = T.alloc_buffer((8,), "float32", scope="shared")
                with T.block("S"):
                    S[vt] = A[vv, vt]
                with T.block("C"):
                    C[vv, vt] = S[vt]
