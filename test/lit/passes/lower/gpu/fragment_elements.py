# RUN: tir-opt %s --split-input-file --mlir-print-local-scope -p 'tir-lower-fastmath,tir-lower-blocks,tir-lower-gpu-warps,tir-lower-gpu-axes,tir-lower-gpu-barriers,tir-lower-gpu-fragments' | FileCheck %s


# The bits of loops that the layout puts into lanes are those of the lane's number, the others are loops over registers.
# What each row has once is in registers of the four lanes that hold the row; their first one stores it.
# CHECK-LABEL: func.func @scale
# CHECK: affine.for %[[T:.*]] = 0 to 32 {
# CHECK-DAG: %[[X:.*]] = memref.alloc() {{.*}}tir.name = "X"} : memref<4x4xf32, "local">
# CHECK-DAG: %[[C:.*]] = memref.alloc() {{.*}}tir.name = "C"} : memref<1x2xf32, "local">
# CHECK-NEXT: affine.for %[[I:.*]] = 0 to 2 {
# CHECK-NEXT: affine.load %arg0[%[[I]] * 8 + %[[T]] floordiv 4, 0]
# CHECK-NEXT: affine.store %{{.*}}, %[[C]][0, %[[I]]]
# CHECK-NEXT: affine.for %[[J:.*]] = 0 to 4 {
# CHECK-NEXT: affine.for %[[R:.*]] = 0 to 2 {
# CHECK-NEXT: affine.load %arg0[%[[I]] * 8 + %[[T]] floordiv 4, %[[J]] * 8 + (%[[T]] mod 4) * 2 + %[[R]]]
# CHECK-NEXT: affine.load %[[C]][0, %[[I]]]
# CHECK-NEXT: arith.mulf
# CHECK-NEXT: affine.store %{{.*}}, %[[X]][%[[J]], %[[I]] * 2 + %[[R]]]
# CHECK-NEXT: } {tir.id = {{.*}}, tir.kind = "vectorized"
# CHECK: affine.if affine_set<(d0) : (d0 mod 4 == 0)>(%[[T]])
# CHECK: affine.store %{{.*}}, %arg1[
@T.prim_func
def scale(A: T.Buffer((16, 32), "float32"), B: T.Buffer((16,), "float32")):
    X = T.alloc_buffer((16, 32), scope="mma.accumulator")
    C = T.alloc_buffer((16,), scope="mma.row")
    for w in T.thread_binding(1, thread="threadIdx.y"):
        for i in range(16):
            with T.block("C"):
                vi = T.axis.spatial(16, i)
                C[vi] = A[vi, 0]
            for j in range(32):
                with T.block("X"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    X[vi, vj] = A[vi, vj] * C[vi]
            with T.block("B"):
                vi = T.axis.spatial(16, i)
                B[vi] = C[vi]


# -----


# A sum over a row: of a lane's own elements, from 0 in all lanes but the first of four, then over these by shuffles.
# CHECK-LABEL: func.func @sum
# CHECK: affine.for %[[I:.*]] = 0 to 2 {
# CHECK: affine.store %{{.*}}, %[[M:.*]][0, %[[I]]]
# CHECK-NEXT: %[[OLD:.*]] = affine.load %[[M]][0, %[[I]]]
# CHECK: %[[START:.*]] = arith.select %{{.*}}, %[[OLD]], %{{.*}} : f32
# CHECK-NEXT: affine.store %[[START]], %[[M]][0, %[[I]]]
# CHECK: affine.for
# CHECK: affine.for
# CHECK: %[[SUM:.*]] = arith.addf
# CHECK-NEXT: affine.store %[[SUM]], %[[M]][0, %[[I]]]
# CHECK: %[[OWN:.*]] = affine.load %[[M]][0, %[[I]]]
# CHECK: %[[NEXT:.*]], %{{.*}} = gpu.shuffle  xor %[[OWN]], %c1
# CHECK: %[[PAIR:.*]] = arith.addf %[[OWN]], %[[NEXT]]
# CHECK: gpu.shuffle  xor %[[PAIR]], %c2
# CHECK: affine.store %{{.*}}, %[[M]][0, %[[I]]]
@T.prim_func
def sum(A: T.Buffer((16, 32), "float32"), B: T.Buffer((16,), "float32")):
    X = T.alloc_buffer((16, 32), scope="mma.accumulator")
    M = T.alloc_buffer((16,), scope="mma.row")
    for w in T.thread_binding(1, thread="threadIdx.y"):
        for i, j in T.grid(16, 32):
            with T.block("X"):
                vi, vj = T.axis.remap("SS", [i, j])
                X[vi, vj] = A[vi, vj]
        for i in range(16):
            with T.block("M"):
                vi = T.axis.spatial(16, i)
                M[vi] = A[vi, 0]
            for j in range(32):
                with T.block("sum"):
                    vi, vj = T.axis.remap("SR", [i, j])
                    M[vi] = M[vi] + X[vi, vj]
            with T.block("B"):
                vi = T.axis.spatial(16, i)
                B[vi] = M[vi]
