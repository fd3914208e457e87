# RUN: tir-opt %s --split-input-file --mlir-print-local-scope -p 'tir-lower-fastmath,tir-lower-blocks,tir-lower-gpu-warps,tir-lower-gpu-axes,tir-lower-gpu-barriers,tir-lower-gpu-fragments' | FileCheck %s


# A fragment is eight registers of each lane, all of which run the ops; the second matrix of B begins in column 16.
# CHECK-LABEL: func.func @copy
# CHECK: affine.for %{{.*}} = 0 to 32 {
# CHECK-NOT: affine.if
# CHECK: %[[F:.*]] = memref.alloc() {{.*}} : memref<1x8xf32, "local">
# CHECK: %[[M:.*]] = gpu.subgroup_mma_constant_matrix %{{.*}} : !gpu.mma_matrix<16x16xf32, "COp">
# CHECK: %[[S:.*]] = builtin.unrealized_conversion_cast %[[M]]
# CHECK: llvm.extractvalue %[[S]][0]
# CHECK: affine.store %{{.*}}, %[[F]][0, 0]
# CHECK: affine.store %{{.*}}, %[[F]][0, 7]
# CHECK-NOT: nvvm.bar.warp.sync
# CHECK: affine.load %[[F]][0, 0]
# CHECK: gpu.subgroup_mma_store_matrix %{{.*}}, %arg0[%{{.*}}, %c16{{.*}}] {leadDimension = 32 : index}
# CHECK-NOT: nvvm.bar.warp.sync
# CHECK-NOT: call
# CHECK: tir.kind = "threadIdx.x"
@T.prim_func
def copy(B: T.Buffer((16, 32), "float32")):
    for b in T.thread_binding(1, thread="blockIdx.x"):
        with T.block("tile"):
            vb = T.axis.spatial(1, b)
            T.reads()
            T.writes(B[0:16, 16:32])
            F = T.alloc_buffer((16, 16), "float32", scope="wmma.accumulator")
            C = T.match_buffer(B[0:16, 16:32], (16, 16), strides=["s", 1])
            for tx in T.thread_binding(32, thread="threadIdx.x"):
                T.tvm_fill_fragment(F.data, 16, 16, 16, 0, T.float32(0))
            for tx in T.thread_binding(32, thread="threadIdx.x"):
                T.tvm_store_matrix_sync(F.data, 16, 16, 16, 0, C.access_ptr("w"), C.strides[0], "row_major")


# What lanes write otherwise: the warp is in step before the store, and before the next write of a lane.
# CHECK-LABEL: func.func @filled
# CHECK: affine.store
# CHECK: nvvm.bar.warp.sync
# CHECK: gpu.subgroup_mma_store_matrix
# CHECK: nvvm.bar.warp.sync
# CHECK: affine.store
@T.prim_func
def filled(B: T.Buffer((16, 16), "float32")):
    for b in T.thread_binding(1, thread="blockIdx.x"):
        with T.block("tile"):
            vb = T.axis.spatial(1, b)
            T.reads()
            T.writes(B[0:16, 0:16])
            F = T.alloc_buffer((16, 16), "float32", scope="wmma.accumulator")
            C = T.match_buffer(B[0:16, 0:16], (16, 16), strides=["s", 1])
            for tx in T.thread_binding(32, thread="threadIdx.x"):
                if tx == 0:
                    B[0, 0] = T.float32(1)
            for tx in T.thread_binding(32, thread="threadIdx.x"):
                T.tvm_fill_fragment(F.data, 16, 16, 16, 0, T.float32(0))
            for tx in T.thread_binding(32, thread="threadIdx.x"):
                T.tvm_store_matrix_sync(F.data, 16, 16, 16, 0, C.access_ptr("w"), C.strides[0], "row_major")
            for tx in T.thread_binding(32, thread="threadIdx.x"):
                if tx == 0:
                    B[0, 1] = T.float32(1)


# A fragment of mma.sync: the layout is known, so lanes store their elements, pairs at once.
# CHECK-LABEL: func.func @mma_store
# CHECK: %[[F:.*]] = memref.alloc() {{.*}} : memref<2x4xf32, "local">
# CHECK: affine.for %[[V:.*]] = 0 to 2 {
# CHECK: %[[X:.*]] = affine.load %[[F]][0, %[[V]]]
# CHECK: affine.store %[[X]], %arg0[%[[T:.*]] floordiv 4, (%[[T]] mod 4) * 2 + %[[V]]]
# CHECK: tir.kind = "vectorized"
# CHECK: affine.load %[[F]][0, %{{.*}} + 2]
# CHECK: affine.store %{{.*}}, %arg0[%{{.*}} floordiv 4 + 8,
# CHECK: affine.load %[[F]][1, %{{.*}}]
@T.prim_func
def mma_store(B: T.Buffer((16, 16), "float32")):
    for b in T.thread_binding(1, thread="blockIdx.x"):
        with T.block("tile"):
            vb = T.axis.spatial(1, b)
            T.reads()
            T.writes(B[0:16, 0:16])
            F = T.alloc_buffer((16, 16), "float32", scope="mma.accumulator")
            C = T.match_buffer(B[0:16, 0:16], (16, 16), strides=["s", 1])
            for tx in T.thread_binding(32, thread="threadIdx.x"):
                T.tvm_fill_fragment(F.data, 16, 8, 16, 0, T.float32(0))
            for tx in T.thread_binding(32, thread="threadIdx.x"):
                T.tvm_store_matrix_sync(F.data, 16, 8, 16, 0, C.access_ptr("w"), C.strides[0], "row_major")


# Four matrices by one ldmatrix: a lane loads a row, and a conversion stands for the exchange. B is [16, 16]: two tiles.
# CHECK-LABEL: func.func @mma_product
# CHECK: %[[A:.*]] = memref.alloc() {{.*}} : memref<1x8xf16, "local">
# CHECK: %[[B:.*]] = memref.alloc() {{.*}} : memref<2x4xf16, "local">
# CHECK: %[[ROW:.*]] = vector.load %{{.*}} {alignment = 16 : i64} : memref<16x16xf16, "shared">, vector<8xf16>
# CHECK: builtin.unrealized_conversion_cast %[[ROW]] : vector<8xf16> to !llvm.struct<(i32, i32, i32, i32)> {tir.ldmatrix = false}
# CHECK: affine.store %{{.*}}, %[[A]][0, 7]
# CHECK: {tir.ldmatrix = true}
# CHECK: affine.store %{{.*}}, %[[B]][1, 3]
# CHECK-COUNT-2: nvvm.mma.sync
@T.prim_func
def mma_product(X: T.Buffer((16, 16), "float16"), Y: T.Buffer((16, 16), "float32")):
    for b in T.thread_binding(1, thread="blockIdx.x"):
        with T.block("tile"):
            vb = T.axis.spatial(1, b)
            T.reads(X[0:16, 0:16])
            T.writes(Y[0:16, 0:16])
            S = T.alloc_buffer((16, 16), "float16", scope="shared")
            A = T.alloc_buffer((16, 16), "float16", scope="mma.matrix_a")
            B = T.alloc_buffer((16, 16), "float16", scope="mma.matrix_b")
            C = T.alloc_buffer((16, 16), "float32", scope="mma.accumulator")
            for tx in T.thread_binding(32, thread="threadIdx.x"):
                for n in range(8):
                    S[n * 2 + tx // 16, tx % 16] = X[n * 2 + tx // 16, tx % 16]
            M = T.match_buffer(S[0:16, 0:16], (16, 16), "float16", strides=["s", 1], scope="shared")
            D = T.match_buffer(Y[0:16, 0:16], (16, 16), strides=["t", 1])
            for tx in T.thread_binding(32, thread="threadIdx.x"):
                T.tvm_load_matrix_sync(A.data, 16, 8, 16, 0, M.access_ptr("r"), M.strides[0], "row_major")
            for tx in T.thread_binding(32, thread="threadIdx.x"):
                T.tvm_load_matrix_sync(B.data, 16, 8, 16, 0, M.access_ptr("r"), M.strides[0], "row_major")
            for tx in T.thread_binding(32, thread="threadIdx.x"):
                T.tvm_fill_fragment(C.data, 16, 8, 16, 0, T.float32(0))
            for tx in T.thread_binding(32, thread="threadIdx.x"):
                T.tvm_mma_sync(C.data, 0, A.data, 0, B.data, 0, C.data, 0)
            for tx in T.thread_binding(32, thread="threadIdx.x"):
                T.tvm_store_matrix_sync(C.data, 16, 8, 16, 0, D.access_ptr("w"), D.strides[0], "row_major")


# -----


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
