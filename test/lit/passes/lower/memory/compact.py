# RUN: tir-opt %s --split-input-file --mlir-print-local-scope -p 'tir-lower-blocks,tir-lower-conditions,tir-lower-compact' | FileCheck %s


# What one iteration fills and uses becomes a buffer of that iteration, with indices from its start.
# CHECK-LABEL: func.func @tile
# CHECK: affine.for %[[I:.*]] = 0 to 64 {
# CHECK: %[[S:.*]] = memref.alloc() {{.*}} : memref<16xf32, "local">
# CHECK: affine.for %[[J:.*]] = 0 to 16 {
# CHECK: affine.load %arg0[%[[I]] * 16 + %[[J]]]
# CHECK: affine.store %{{.*}}, %[[S]][%[[J]]]
# CHECK: affine.for %[[K:.*]] = 0 to 16 {
# CHECK: affine.load %[[S]][%[[K]]]
# CHECK: affine.store %{{.*}}, %arg1[%[[I]] * 16 + %[[K]]]
@T.prim_func
def tile(A: T.Buffer((1024,), "float32"), B: T.Buffer((1024,), "float32")):
    S = T.alloc_buffer((1024,), "float32", scope="local")
    for i in range(64):
        for j in range(16):
            with T.block("S"):
                v = T.axis.spatial(1024, i * 16 + j)
                S[v] = A[v]
        for k in range(16):
            with T.block("B"):
                v = T.axis.spatial(1024, i * 16 + k)
                B[v] = S[v]


# -----


# Values that go from one iteration to the next: the buffer remains where it is.
# CHECK-LABEL: func.func @carried
# CHECK: %[[S:.*]] = memref.alloc() {{.*}} : memref<9xf32>
# CHECK-NOT: memref.alloc
# CHECK: affine.load %[[S]][
@T.prim_func
def carried(A: T.Buffer((8,), "float32")):
    S = T.alloc_buffer((9,), "float32")
    with T.block("first"):
        T.reads()
        T.writes(S[0])
        S[0] = T.float32(0)
    for i in range(8):
        with T.block("S"):
            T.reads(S[i])
            T.writes(S[i + 1])
            S[i + 1] = S[i] + T.float32(1)
        with T.block("A"):
            T.reads(S[i + 1])
            T.writes(A[i])
            A[i] = S[i + 1]
