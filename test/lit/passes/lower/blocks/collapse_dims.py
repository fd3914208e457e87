# RUN: tir-opt %s --split-input-file --mlir-print-local-scope -p 'tir-lower-blocks,tir-lower-collapse-dims' | FileCheck %s


# A pixel is the position p of the image; other accesses follow.
# CHECK-LABEL: func.func @pixels
# CHECK: %[[B:.*]] = memref.collapse_shape %arg1 {{\[\[}}0], [1, 2]] {tir.name = "B", tir.sole} : memref<3x8x7xf32> into memref<3x56xf32>
# CHECK: affine.store %{{.*}}, %[[B]][%{{.*}}, %[[P:.*]]] : memref<3x56xf32>
# CHECK: affine.store %{{.*}}, %[[B]][0, %{{.*}} * 7] : memref<3x56xf32>
@T.prim_func
def pixels(A: T.Buffer((3, 56), "float32"), B: T.Buffer((3, 8, 7), "float32")):
    for c, p in T.grid(3, 56):
        with T.block("B"):
            vc, vp = T.axis.remap("SS", [c, p])
            B[vc, vp // 7, vp % 7] = A[vc, vp]
    for h in range(8):
        with T.block("edge"):
            vh = T.axis.spatial(8, h)
            B[0, vh, 0] = T.float32(0)


# -----


# Nothing is gained where rows are read with gaps between them, or without a division.
# CHECK-LABEL: func.func @plain
# CHECK-NOT: collapse_shape
@T.prim_func
def plain(A: T.Buffer((8, 7), "float32"), B: T.Buffer((8, 7), "float32")):
    for h, w in T.grid(8, 7):
        with T.block("B"):
            vh, vw = T.axis.remap("SS", [h, w])
            B[vh, vw] = A[vh, vw]


# -----


# The first dimension may be symbolic.
# CHECK-LABEL: func.func @symbolic
# CHECK: memref.collapse_shape %arg1 {{\[\[}}0, 1]] {tir.name = "B", tir.sole} : memref<?x4xf32> into memref<?xf32>
@T.prim_func
def symbolic(a: T.handle, b: T.handle):
    n = T.int32()
    A = T.match_buffer(a, (n * 4,), "float32")
    B = T.match_buffer(b, (n, 4), "float32")
    for p in range(n * 4):
        with T.block("B"):
            vp = T.axis.spatial(n * 4, p)
            B[vp // 4, vp % 4] = A[vp]


# -----


# The lanes of the second dimension are adjacent, as all behind it has one element.
# CHECK-LABEL: func.func @lanes
# CHECK: memref.collapse_shape %arg0 {{\[\[}}0], [1, 2, 3]] {tir.name = "A", tir.sole} : memref<4x16x1x1xf32> into memref<4x16xf32>
@T.prim_func
def lanes(A: T.Buffer((4, 16, 1, 1), "float32"), B: T.Buffer((4, 16), "float32")):
    for i in range(4):
        for j in T.vectorized(16):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj, 0, 0]


# -----


# What one iteration of a parallel loop writes remains a box: its divisions run once.
# CHECK-LABEL: func.func @pieces
# CHECK-NOT: collapse_shape
@T.prim_func
def pieces(A: T.Buffer((8, 12), "float32"), B: T.Buffer((8, 12), "float32")):
    for f in T.parallel(6):
        for i, j in T.grid(4, 4):
            with T.block("B"):
                vi = T.axis.spatial(8, f % 2 * 4 + i)
                vj = T.axis.spatial(12, f // 2 * 4 + j)
                B[vi, vj] = A[vi, vj]


# -----


# CHECK-LABEL: func.func @rows
# CHECK: memref.collapse_shape %arg0 {{\[\[}}0, 1], [2]]
@T.prim_func
def rows(A: T.Buffer((2, 3, 4), "float32"), B: T.Buffer((6, 4), "float32")):
    for f in T.parallel(6):
        for j in range(4):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [f, j])
                B[vi, vj] = A[vi // 3, vi % 3, vj]
