# RUN: tir-opt %s --split-input-file --mlir-print-local-scope -p 'tir-lower-blocks,tir-lower-gpu-vectors' | FileCheck %s


# Adjacent aligned elements are loaded at once; what is not adjacent is stored one by one.
# CHECK-LABEL: func.func @transposed
# CHECK: %[[R:.*]] = vector.load %arg0[%{{.*}}, %{{.*}}] {alignment = 16 : i64} : memref<8x8xf32>, vector<4xf32>
# CHECK: %[[X:.*]] = vector.extract %[[R]][0]
# CHECK: affine.store %[[X]], %arg1[%{{.*}} * 4 + %c0, %{{.*}}]
# CHECK: affine.store %{{.*}}, %arg1[%{{.*}} * 4 + %c3, %{{.*}}]
@T.prim_func
def transposed(A: T.Buffer((8, 8), "float32"), B: T.Buffer((8, 8), "float32")):
    for i, j in T.grid(8, 2):
        for v in T.vectorized(4):
            with T.block("B"):
                vi = T.axis.spatial(8, i)
                vj = T.axis.spatial(8, j * 4 + v)
                B[vj, vi] = A[vi, vj]


# -----


# 16 bytes at once: two halves of eight f32; eight f16. A vector that is stored as it was loaded stays one.
# CHECK-LABEL: func.func @halves
# CHECK: %[[A:.*]] = vector.load %arg0[%{{.*}}] {alignment = 16 : i64} : memref<64xf32>, vector<4xf32>
# CHECK: %[[B:.*]] = vector.load %arg0[%{{.*}}] {alignment = 16 : i64} : memref<64xf32>, vector<4xf32>
# CHECK: vector.store %[[A]], %arg1[%{{.*}}] {alignment = 16 : i64}
# CHECK: vector.store %[[B]], %arg1[%{{.*}}] {alignment = 16 : i64}
# CHECK: vector.load %arg2[%{{.*}}] {alignment = 16 : i64} : memref<64xf16>, vector<8xf16>
# CHECK: vector.from_elements
@T.prim_func
def halves(A: T.Buffer((64,), "float32"), B: T.Buffer((64,), "float32"), C: T.Buffer((64,), "float16")):
    for i in range(8):
        for v in T.vectorized(8):
            with T.block("B"):
                vi = T.axis.spatial(64, i * 8 + v)
                B[vi] = A[vi]
        for v in T.vectorized(8):
            with T.block("C"):
                vi = T.axis.spatial(64, i * 8 + v)
                C[vi] = C[vi] + T.float16(1)


# -----


# A start that is a multiple of 2 only: two at once. An odd row length: one by one.
# CHECK-LABEL: func.func @starts
# CHECK: vector.load %arg0[%{{.*}}] {alignment = 8 : i64} : memref<66xf32>, vector<2xf32>
# CHECK-NOT: vector.load %arg1
@T.prim_func
def starts(A: T.Buffer((66,), "float32"), B: T.Buffer((4, 5), "float32"), C: T.Buffer((4, 16), "float32")):
    for i in range(4):
        for v in T.vectorized(4):
            with T.block("C"):
                vi = T.axis.spatial(4, i)
                vj = T.axis.spatial(4, v)
                C[vi, vj] = A[vi * 4 + vj + 2] + B[vi, vj]


# -----


# A condition that is the same for all lanes moves out.
# CHECK-LABEL: func.func @whole
# CHECK: affine.if affine_set<(d0) : (d0 * -4 + 31 >= 0)>
# CHECK: vector.store {{.*}} : memref<32xf32>, vector<4xf32>
@T.prim_func
def whole(A: T.Buffer((32,), "float32"), B: T.Buffer((32,), "float32")):
    for i in range(9):
        for v in T.vectorized(4):
            with T.block("A"):
                T.where(i * 4 + v < 32)
                vi = T.axis.spatial(32, i * 4 + v)
                A[vi] = B[vi]


# -----


# With another one inside it becomes plain iterations.
# CHECK-LABEL: func.func @tail
# CHECK: affine.for {{.*}} = 0 to 4 {
# CHECK: tir.kind = "unrolled"
@T.prim_func
def tail(A: T.Buffer((30,), "float32")):
    for i in range(8):
        for v in T.vectorized(4):
            with T.block("A"):
                T.where(i * 4 + v < 30)
                vi = T.axis.spatial(30, i * 4 + v)
                A[vi] = T.float32(1)


# -----


# A value that a condition chooses for all lanes at once: vectors of values, or of constants.
# CHECK-LABEL: func.func @filled
# CHECK: affine.if affine_set<(d0) : (d0 * -4 + 27 >= 0)>
# CHECK: vector.load %arg1[%{{.*}}] {alignment = 16 : i64} : memref<28xf32>, vector<4xf32>
# CHECK: vector.store {{.*}} : memref<32xf32>, vector<4xf32>
# CHECK: } else {
# CHECK-NOT: vector.load
# CHECK: vector.store {{.*}} : memref<32xf32>, vector<4xf32>
@T.prim_func
def filled(A: T.Buffer((32,), "float32"), B: T.Buffer((28,), "float32")):
    for i in range(8):
        for v in T.vectorized(4):
            with T.block("A"):
                vi = T.axis.spatial(32, i * 4 + v)
                A[vi] = T.if_then_else(vi < 28, B[vi], T.float32(0))
