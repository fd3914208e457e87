# RUN: tir-opt %s --split-input-file --mlir-print-local-scope -p 'tir-lower-fastmath,tir-lower-blocks,tir-lower-conditions,tir-lower-vectorize' | FileCheck %s


# What does not depend on the lane is broadcast.
# CHECK-LABEL: func.func @lanes
# CHECK: affine.for %[[I:.*]] = 0 to 4 {
# CHECK-NOT: affine.for
# CHECK-DAG: affine.vector_load %arg0[%[[I]], 0] : memref<4x16xf32>, vector<16xf32>
# CHECK-DAG: vector.broadcast {{.*}} : f32 to vector<16xf32>
# CHECK: arith.mulf {{.*}} : vector<16xf32>
# CHECK: affine.vector_store %{{.*}}, %arg2[%[[I]], 0] : memref<4x16xf32>, vector<16xf32>
@T.prim_func
def lanes(A: T.Buffer((4, 16), "float32"), S: T.Buffer((4,), "float32"), B: T.Buffer((4, 16), "float32")):
    for i in range(4):
        for j in T.vectorized(16):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj] * S[vi]


# -----


# Elements whose distances differ between lanes are gathered, at places computed as 32-bit integers.
# CHECK-LABEL: func.func @uneven
# CHECK: %[[AT:.*]] = arith.addi {{.*}} : vector<16xi32>
# CHECK: arith.divui %[[AT]], {{.*}} : vector<16xi32>
# CHECK: vector.gather %arg0[%{{.*}}, %{{.*}}] [%{{.*}}], {{.*}} : memref<4x23xf32>, vector<16xi32>
@T.prim_func
def uneven(A: T.Buffer((4, 23), "float32"), B: T.Buffer((4, 16), "float32")):
    for i in range(4):
        for j in T.vectorized(16):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, (vj + 5) % 7]


# -----


# Over 64 lanes: chunks of a register, and a narrower vector for the rest.
# CHECK-LABEL: func.func @chunks
# CHECK: affine.for %{{.*}} = 0 to 6 {
# CHECK: affine.vector_store {{.*}} vector<16xf32>
# CHECK: affine.vector_store {{.*}} vector<4xf32>
@T.prim_func
def chunks(A: T.Buffer((100,), "float32"), B: T.Buffer((100,), "float32")):
    for j in T.vectorized(100):
        with T.block("B"):
            vj = T.axis.spatial(100, j)
            B[vj] = A[vj]


# -----


# A condition that depends on the lane becomes a mask, except where it holds in all lanes.
# CHECK-LABEL: func.func @guarded
# CHECK: affine.for
# CHECK: affine.if
# CHECK: affine.vector_store {{.*}} vector<8xf32>
# CHECK: } else {
# CHECK: %[[M:.*]] = vector.create_mask
# CHECK: vector.maskedstore %arg0[{{.*}}], %[[M]], {{.*}} : memref<10xf32>
@T.prim_func
def guarded(A: T.Buffer((10,), "float32")):
    for o in range(2):
        for j in T.vectorized(8):
            with T.block("A"):
                T.where(o * 8 + j < 10)
                v = T.axis.spatial(10, o * 8 + j)
                A[v] = T.float32(0)


# -----


# A part of a vector: what is in the buffer anyway is read whole, only the store is masked.
# CHECK-LABEL: func.func @masked
# CHECK: %[[M:.*]] = vector.create_mask %{{.*}} : vector<16xi1>
# CHECK: affine.vector_load %arg0[%{{.*}}, 0] : memref<4x16xf32>, vector<16xf32>
# CHECK: vector.maskedload %arg1[{{.*}}], %[[M]], {{.*}} : memref<4x15xf32>
# CHECK: vector.maskedstore %arg2[{{.*}}], %[[M]], {{.*}} : memref<4x15xf32>
@T.prim_func
def masked(A: T.Buffer((4, 16), "float32"), B: T.Buffer((4, 15), "float32"), C: T.Buffer((4, 15), "float32")):
    for i in range(4):
        for j in T.vectorized(15):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = A[vi, vj] * B[vi, vj]


# -----


# What no block has written may be denormal, and slow: it is not read.
# CHECK-LABEL: func.func @unset
# CHECK: affine.vector_load %alloc[%{{.*}}, 0] : memref<2x16xf32>, vector<16xf32>
# CHECK: vector.maskedload %alloc[{{.*}} : memref<2x16xf32>
@T.prim_func
def unset(A: T.Buffer((27,), "float32"), C: T.Buffer((27,), "float32")):
    B = T.alloc_buffer((2, 16))
    for i in range(27):
        with T.block("B"):
            v = T.axis.spatial(27, i)
            B[v // 16, v % 16] = A[v]
    for i in range(2):
        for j in T.vectorized(16):
            with T.block("C"):
                T.where(i * 16 + j < 27)
                v = T.axis.spatial(27, i * 16 + j)
                C[v] = B[v // 16, v % 16] + T.float32(1)


# -----


# A size that is known when the program runs: whole vectors, then a part of one.
# CHECK-LABEL: func.func @symbolic
# CHECK: affine.for %{{.*}} = 0 to affine_map<()[s0] -> (s0 floordiv 16)>()[
# CHECK: affine.vector_store {{.*}} vector<16xf32>
# CHECK: vector.create_mask
# CHECK: vector.maskedstore
@T.prim_func
def symbolic(a: T.handle, b: T.handle):
    n = T.int32()
    A = T.match_buffer(a, (n,), "float32")
    B = T.match_buffer(b, (n,), "float32")
    for j in T.vectorized(n):
        with T.block("B"):
            vj = T.axis.spatial(n, j)
            B[vj] = A[vj]


# -----


# A division by the zeros of lanes left out would trap: lanes of the rest only.
# CHECK-LABEL: func.func @division
# CHECK-NOT: mask
# CHECK: vector<7xi32>
@T.prim_func
def division(A: T.Buffer((7,), "int32"), B: T.Buffer((7,), "int32")):
    for j in T.vectorized(7):
        with T.block("B"):
            vj = T.axis.spatial(7, j)
            B[vj] = T.floordiv(100, A[vj])


# -----


# Four rows of lanes beside each other; what is left by one row, and a part of a row under a mask.
# CHECK-LABEL: func.func @total
# CHECK: affine.store %{{.*}}, %arg1[%[[I:.*]]] : memref<4xf32>
# CHECK: %[[P:.*]] = memref.alloc() {{.*}} : memref<64xf32>
# CHECK: affine.for %{{.*}} = 0 to 15 {
# CHECK-COUNT-4: arith.addf {{.*}} fastmath<reassoc,contract> : vector<16xf32>
# CHECK: affine.for %{{.*}} = 0 to 2 {
# CHECK: vector.maskedload
# CHECK: arith.select {{.*}} : vector<16xi1>, vector<16xf32>
# CHECK: vector.extract_strided_slice {{.*}} sizes = [8]
# CHECK: affine.load %arg1[%[[I]]] : memref<4xf32>
# CHECK: affine.store %{{.*}}, %arg1[%[[I]]] : memref<4xf32>
@T.prim_func
def total(A: T.Buffer((4, 1000), "float32"), C: T.Buffer((4,), "float32")):
    for i in range(4):
        for k in T.vectorized(1000):
            with T.block("C"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    C[vi] = T.float32(0)
                C[vi] = C[vi] + A[vi, vk]


# -----


# What lanes have in common, and what is written twice, does not count as work that hides the latency of a sum.
# CHECK-LABEL: func.func @spread
# CHECK: memref.alloc() {{.*}}"parts"} : memref<32xf32>
@T.prim_func
def spread(A: T.Buffer((4, 1000), "float32"), M: T.Buffer((4,), "float32"), C: T.Buffer((4,), "float32")):
    for i in range(4):
        for k in T.vectorized(1000):
            with T.block("C"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    C[vi] = T.float32(0)
                C[vi] = C[vi] + (A[vi, vk] - M[vi] / T.float32(3)) * (A[vi, vk] - M[vi] / T.float32(3))


# -----


# Over all loops of the sum the parts stay in the lanes.
# CHECK-LABEL: func.func @all
# CHECK: affine.vector_store
# CHECK: affine.for %{{.*}} = 0 to 100 {
# CHECK: arith.maximumf {{.*}} : vector<16xf32>
# CHECK-NOT: vector.extract
# CHECK: }
# CHECK: vector.extract_strided_slice
@T.prim_func
def all(A: T.Buffer((100, 16), "float32"), C: T.Buffer((), "float32")):
    for i in range(100):
        for k in T.vectorized(16):
            with T.block("C"):
                vi, vk = T.axis.remap("RR", [i, k])
                C[()] = T.max(C[()], A[vi, vk])


# -----


# Nobody said that the order of this sum is free.
# CHECK-LABEL: func.func @in_order
# CHECK-NOT: vector
# CHECK: return
@T.prim_func
def in_order(A: T.Buffer((16,), "float32"), C: T.Buffer((1,), "float32")):
    for k in T.vectorized(16):
        with T.block("C"):
            vk = T.axis.opaque(16, k)
            T.reads(A[vk], C[0])
            T.writes(C[0])
            C[0] = C[0] + A[vk]


# -----


# Half floats have no masks: what is left goes one by one.
# CHECK-LABEL: func.func @halves
# CHECK: affine.for %{{.*}} = 0 to affine_map<()[s0] -> (s0 floordiv 32)>()[
# CHECK: vector<32xf16>
# CHECK-NOT: mask
# CHECK: affine.for %{{.*}} = affine_map<()[s0] -> ((s0 floordiv 32) * 32)>()[%{{.*}}] to %
# CHECK: arith.mulf {{.*}} : f16
@T.prim_func
def halves(a: T.handle, b: T.handle):
    n = T.int32()
    A = T.match_buffer(a, (n,), "float16")
    B = T.match_buffer(b, (n,), "float16")
    for k in T.vectorized(n):
        with T.block("B"):
            v = T.axis.spatial(n, k)
            B[v] = A[v] * A[v]


# -----


# A row at a loaded index: one vector load and store.
# CHECK-LABEL: func.func @scattered
# CHECK: %[[ROW:.*]] = arith.index_cast %{{.*}} : i32 to index
# CHECK-NOT: affine.for
# CHECK: vector.load %arg2[%[[ROW]], %{{.*}}] : memref<8x16xf32>, vector<16xf32>
# CHECK: vector.store %{{.*}}, %arg2[%{{.*}}, %{{.*}}] : memref<8x16xf32>, vector<16xf32>
@T.prim_func
def scattered(A: T.Buffer((32, 16), "float32"), P: T.Buffer((32,), "int32"), C: T.Buffer((8, 16), "float32")):
    for i in range(32):
        for j in T.vectorized(16):
            with T.block("C"):
                vi, vj = T.axis.remap("RS", [i, j])
                C[P[vi], vj] = C[P[vi], vj] + A[vi, vj]


# -----


# Lanes of known places: runs of adjacent ones are loaded, here the rows of tiles of 2 x 2.
# CHECK-LABEL: func.func @runs
# CHECK: %[[FIRST:.*]] = affine.vector_load %arg0[%{{.*}}, 0, 0] : memref<8x2x2xf32>, vector<2xf32>
# CHECK: %[[SECOND:.*]] = affine.vector_load %arg0[%{{.*}} + 1, 0, 0] : memref<8x2x2xf32>, vector<2xf32>
# CHECK: %[[ROW:.*]] = vector.from_elements %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : vector<4xf32>
# CHECK: arith.addf %[[ROW]], %{{.*}} : vector<4xf32>
@T.prim_func
def runs(A: T.Buffer((8, 2, 2), "float32"), B: T.Buffer((16,), "float32")):
    for i in range(4):
        for j in T.vectorized(4):
            with T.block("B"):
                v = T.axis.spatial(16, i * 4 + j)
                B[v] = A[v // 2, 0, v % 2] + T.float32(1)
