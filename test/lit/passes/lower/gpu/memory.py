# RUN: tir-opt %s --split-input-file --mlir-print-local-scope -p 'tir-lower-blocks,tir-lower-gpu-memory' | FileCheck %s


# A shared buffer holds what all threads of a block use, outside of their loops; a local one what one thread uses.
# CHECK-LABEL: func.func @tile
# CHECK: affine.for %[[I:.*]] = 0 to 4 {
# CHECK-NEXT: %[[S:.*]] = memref.alloc() {{.*}}tir.name = "S"{{.*}} : memref<1x64xf32, "shared">
# CHECK: affine.for %[[J:.*]] = 0 to 64 {
# CHECK: affine.store %{{.*}}, %[[S]][0, %[[J]]]
# CHECK: affine.for %[[J2:.*]] = 0 to 64 {
# CHECK-NEXT: %[[L:.*]] = memref.alloc() {{.*}}tir.name = "L"{{.*}} : memref<1x1xf32, "local">
# CHECK: affine.load %[[S]][0, -%[[J2]] + 63]
# CHECK: affine.store %{{.*}}, %[[L]][0, 0]
@T.prim_func
def tile(A: T.Buffer((4, 64), "float32"), B: T.Buffer((4, 64), "float32")):
    S = T.alloc_buffer((4, 64), "float32", scope="shared")
    L = T.alloc_buffer((4, 64), "float32", scope="local")
    for i in T.thread_binding(4, thread="blockIdx.x"):
        for j in T.thread_binding(64, thread="threadIdx.x"):
            with T.block("S"):
                vi, vj = T.axis.remap("SS", [i, j])
                S[vi, vj] = A[vi, vj]
        for j in T.thread_binding(64, thread="threadIdx.x"):
            with T.block("L"):
                vi, vj = T.axis.remap("SS", [i, j])
                L[vi, vj] = S[vi, 63 - vj]
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = L[vi, vj] + L[vi, vj]


# -----


# A buffer that several blocks or threads use in the memory of all stays where it is, whole.
# CHECK-LABEL: func.func @between
# CHECK-NEXT: memref.alloc() {{.*}} : memref<4x64xf32>
@T.prim_func
def between(A: T.Buffer((4, 64), "float32"), B: T.Buffer((4, 64), "float32")):
    S = T.alloc_buffer((4, 64), "float32")
    for i in T.thread_binding(4, thread="blockIdx.x"):
        for j in T.thread_binding(64, thread="threadIdx.x"):
            with T.block("S"):
                vi, vj = T.axis.remap("SS", [i, j])
                S[vi, vj] = A[vi, vj]
        for j in T.thread_binding(64, thread="threadIdx.x"):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = S[vi, 63 - vj]


# -----


# One that a single thread uses is local to it.
# CHECK-LABEL: func.func @private
# CHECK: affine.for
# CHECK: affine.for
# CHECK-NEXT: memref.alloc() {{.*}} : memref<1x1xf32, "local">
@T.prim_func
def private(A: T.Buffer((4, 64), "float32"), B: T.Buffer((4, 64), "float32")):
    S = T.alloc_buffer((4, 64), "float32")
    for i in T.thread_binding(4, thread="blockIdx.x"):
        for j in T.thread_binding(64, thread="threadIdx.x"):
            with T.block("S"):
                vi, vj = T.axis.remap("SS", [i, j])
                S[vi, vj] = A[vi, vj]
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = S[vi, vj]
