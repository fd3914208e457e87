# RUN: tir-opt %s --split-input-file --verify-diagnostics -p 'tir-lower-strides-align,tir-lower-blocks,tir-lower-vectorize,tir-lower-strides' --mlir-print-local-scope | FileCheck %s


# The stride of axis 0 is 8 more than a multiple of 32, that of axis 1 is 1: rows are vectors still.
# CHECK-LABEL: func.func @rows(
# CHECK: %[[M:.*]] = memref.alloc() {{.*}} : memref<640xf32>
# CHECK: %[[Y:.*]] = memref.reinterpret_cast %[[M]] to offset: [0], sizes: [16, 10], strides: [40, 1]
# CHECK: affine.vector_store %{{.*}}, %[[Y]][%{{.*}}, 0] : memref<16x10xf32, strided<[40, 1]>>
# CHECK: affine.load %[[Y]]
@T.prim_func
def rows(A: T.Buffer((16, 10), "float32"), B: T.Buffer((16, 10), "float32")):
    Y = T.alloc_buffer((16, 10), "float32")
    for i in range(16):
        for j in T.vectorized(10):
            with T.block("Y"):
                vi, vj = T.axis.remap("SS", [i, j])
                T.block_attr({"buffer_dim_align": [[0, 0, 32, 8]]})
                Y[vi, vj] = A[vi, vj]
    for i, j in T.grid(16, 10):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = Y[vi, vj]


# -----


# Elements of a row that lie apart are no vector in memory.
# CHECK-LABEL: func.func @apart(
# CHECK: memref.reinterpret_cast %{{.*}} to offset: [0], sizes: [16, 4], strides: [16, 4]
# CHECK-NOT: affine.vector_load %reinterpret_cast
@T.prim_func
def apart(A: T.Buffer((16, 4), "float32"), B: T.Buffer((16, 4), "float32")):
    Y = T.alloc_buffer((16, 4), "float32")
    for i, j in T.grid(16, 4):
        with T.block("Y"):
            vi, vj = T.axis.remap("SS", [i, j])
            T.block_attr({"buffer_dim_align": [[0, 1, 4, 0]]})
            Y[vi, vj] = A[vi, vj]
    for i in range(16):
        for j in T.vectorized(4):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = Y[15 - vi, vj]


# -----


# A symbolic number of rows; views follow.
# CHECK-LABEL: func.func @symbolic(
# CHECK: memref.alloc(%{{.*}}) {{.*}} : memref<?xf32>
# CHECK: memref.reinterpret_cast %{{.*}} to offset: [0], sizes: [%{{.*}}, 10], strides: [12, 1]
# CHECK: memref.subview %{{.*}} : memref<?x10xf32, strided<[12, 1]>> to memref<1x10xf32, strided<[12, 1], offset: ?>>
@T.prim_func
def symbolic(a: T.handle, b: T.handle):
    n = T.int32()
    A = T.match_buffer(a, (n, 10), "float32")
    B = T.match_buffer(b, (n, 10), "float32")
    Y = T.alloc_buffer((n, 10), "float32")
    for i, j in T.grid(n, 10):
        with T.block("Y"):
            vi, vj = T.axis.remap("SS", [i, j])
            T.block_attr({"buffer_dim_align": [[0, 0, 4, 0]]})
            Y[vi, vj] = A[vi, vj]
    for i in range(n):
        with T.block("B"):
            vi = T.axis.spatial(n, i)
            R = T.match_buffer(Y[vi, 0:10], (1, 10), strides=("sr", 1), offset_factor=1)
            for j in range(10):
                with T.block("row"):
                    vj = T.axis.spatial(10, j)
                    B[vi, vj] = R[0, vj]
