# RUN: tir-opt %s --split-input-file --mlir-print-local-scope -p 'tir-lower-blocks,tir-lower-gpu-axes' | FileCheck %s


# Loops over one axis, side by side, become one; the smaller one a condition. What is outside is done by one thread.
# CHECK-LABEL: func.func @siblings
# CHECK: affine.for %[[I:.*]] = 0 to 8 {
# CHECK-NEXT: memref.alloc() {{.*}} "shared">
# CHECK-NEXT: affine.for %[[T:.*]] = 0 to 64 {
# CHECK: affine.store %{{.*}}, %{{.*}}[%[[T]]]
# CHECK: affine.if affine_set<(d0) : (-d0 + 15 >= 0)>(%[[T]]) {
# CHECK: affine.store %{{.*}}, %{{.*}}[%[[I]], %[[T]]]
# CHECK: affine.if affine_set<(d0) : (d0 == 0)>(%[[T]]) {
# CHECK: affine.store %{{.*}}, %{{.*}}[%[[I]]]
# CHECK: tir.kind = "threadIdx.x"
# CHECK-NEXT: tir.kind = "blockIdx.x"
@T.prim_func
def siblings(A: T.Buffer((8, 64), "float32"), B: T.Buffer((8, 16), "float32"), C: T.Buffer((8,), "float32")):
    for i in T.thread_binding(8, thread="blockIdx.x"):
        with T.block("whole"):
            vi = T.axis.spatial(8, i)
            S = T.alloc_buffer((64,), "float32", scope="shared")
            for j in T.thread_binding(64, thread="threadIdx.x"):
                with T.block("S"):
                    vj = T.axis.spatial(64, j)
                    S[vj] = A[vi, vj]
            for j in T.thread_binding(16, thread="threadIdx.x"):
                with T.block("B"):
                    vj = T.axis.spatial(16, j)
                    B[vi, vj] = S[vj * 4]
            with T.block("C"):
                C[vi] = S[0]


# -----


# The axes stand in one order, whatever that of the loops.
# CHECK-LABEL: func.func @order
# CHECK: tir.kind = "threadIdx.x"
# CHECK-NEXT: tir.kind = "threadIdx.y"
# CHECK-NEXT: tir.kind = "blockIdx.x"
@T.prim_func
def order(A: T.Buffer((8, 4, 2), "float32")):
    for i in T.thread_binding(8, thread="threadIdx.x"):
        for j in T.thread_binding(4, thread="blockIdx.x"):
            for k in T.thread_binding(2, thread="threadIdx.y"):
                with T.block("A"):
                    vi, vj, vk = T.axis.remap("SSS", [i, j, k])
                    A[vi, vj, vk] = T.float32(1)


# -----


# Each thread fills its copy of a local buffer.
# CHECK-LABEL: func.func @each
# CHECK: affine.for %{{.*}} = 0 to 2 {
# CHECK-NEXT: affine.for %{{.*}} = 0 to 8 {
# CHECK-NEXT: memref.alloc() {{.*}} "local">
# CHECK-NOT: affine.if
# CHECK: affine.store %{{.*}}, %{{.*}}[0]
# CHECK: tir.kind = "threadIdx.x"
@T.prim_func
def each(A: T.Buffer((8,), "float32")):
    for v in T.thread_binding(2, thread="blockIdx.x"):
        with T.block("whole"):
            L = T.alloc_buffer((1,), "float32", scope="local")
            with T.block("L"):
                L[0] = T.float32(2)
            for i in T.thread_binding(8, thread="threadIdx.x"):
                with T.block("A"):
                    vi = T.axis.spatial(8, i)
                    A[vi] = L[0]


# -----


# A local buffer that two loops over the threads use: what one thread uses of it.
# CHECK-LABEL: func.func @across
# CHECK: affine.for %[[T:.*]] = 0 to 8 {
# CHECK-NEXT: %[[L:.*]] = memref.alloc() {{.*}} : memref<1xf32, "local">
# CHECK: affine.store %{{.*}}, %[[L]][0]
# CHECK: affine.load %[[L]][0]
@T.prim_func
def across(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
    for v in T.thread_binding(1, thread="blockIdx.x"):
        with T.block("whole"):
            L = T.alloc_buffer((8,), "float32", scope="local")
            for i in T.thread_binding(8, thread="threadIdx.x"):
                with T.block("L"):
                    vi = T.axis.spatial(8, i)
                    L[vi] = A[vi]
            for i in T.thread_binding(8, thread="threadIdx.x"):
                with T.block("B"):
                    vi = T.axis.spatial(8, i)
                    B[vi] = L[vi]


# -----


# What a thread keeps of a ragged row has constant indices, also where one thread has a part as long as the row.
# CHECK-LABEL: func.func @ragged
# CHECK: affine.for %[[T:.*]] = 0 to 32 {
# CHECK: affine.for %[[K:.*]] = 0 to 2 {
# CHECK: affine.store %{{.*}}, %[[S:.*]][%[[K]] * 32] : memref<33xf32, "local">
# CHECK: affine.for %[[J:.*]] = 0 to 2 {
# CHECK: affine.load %[[S]][%[[J]] * 32] : memref<33xf32, "local">
@T.prim_func
def ragged(A: T.Buffer((33,), "float32"), B: T.Buffer((33,), "float32")):
    for i in T.thread_binding(1, thread="blockIdx.x"):
        with T.block("whole"):
            vi = T.axis.spatial(1, i)
            S = T.alloc_buffer((33,), "float32", scope="local")
            for k in range(2):
                for t in T.thread_binding(32, thread="threadIdx.x"):
                    with T.block("S"):
                        vj = T.axis.spatial(33, k * 32 + t)
                        T.where(k * 32 + t < 33)
                        S[vj] = A[vj]
            for j in range(2):
                for t in T.thread_binding(32, thread="threadIdx.x"):
                    with T.block("B"):
                        vj = T.axis.spatial(33, j * 32 + t)
                        T.where(j * 32 + t < 33)
                        B[vj] = S[vj] * T.float32(2)
