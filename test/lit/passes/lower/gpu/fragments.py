# RUN: tir-opt %s --split-input-file --mlir-print-local-scope -p 'tir-lower-blocks,tir-lower-gpu-warps,tir-lower-gpu-axes,tir-lower-gpu-barriers,tir-lower-gpu-fragments' | FileCheck %s


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
# CHECK: nvvm.bar.warp.sync
# CHECK: affine.load %[[F]][0, 0]
# CHECK: gpu.subgroup_mma_store_matrix %{{.*}}, %arg0[%{{.*}}, %c16{{.*}}] {leadDimension = 32 : index}
# CHECK-NEXT: arith.constant -1
# CHECK-NEXT: nvvm.bar.warp.sync
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
