# RUN: tir-opt %s --split-input-file --verify-diagnostics --tir-to-linalg --mlir-print-local-scope | FileCheck %s
# RUN: tir-opt %s --split-input-file --tir-to-linalg=named=true 2>/dev/null | FileCheck %s --check-prefix=NAMED
# RUN: not tir-opt %s --split-input-file --tir-to-linalg=strict=true 2>&1 | FileCheck %s --check-prefix=STRICT


# The init is a fill, the update a generic, whatever the loops have become.
# CHECK-LABEL: func.func @matmul
# CHECK:         linalg.fill ins(%{{.*}} : f32) outs(%arg2 : memref<16x8xf32>)
# CHECK-NEXT:    linalg.generic
# CHECK-SAME:      affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>
# CHECK-SAME:      iterator_types = ["parallel", "parallel", "reduction"]
# CHECK-SAME:      ins(%arg0, %arg1 : memref<16x4xf32>, memref<4x8xf32>) outs(%arg2 : memref<16x8xf32>)
# CHECK:           arith.mulf
# CHECK-NEXT:      arith.addf %out
# CHECK-NOT:     affine.for
# NAMED-LABEL: func.func @matmul
# NAMED:         linalg.matmul ins(%arg0, %arg1
@T.prim_func
def matmul(A: T.Buffer((16, 4), "float32"), B: T.Buffer((4, 8), "float32"), C: T.Buffer((16, 8), "float32")):
    for i_0, k, i_1, j in T.grid(4, 4, 4, 8):
        with T.block("C"):
            vi = T.axis.spatial(16, i_0 * 4 + i_1)
            vj, vk = T.axis.remap("SR", [j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]


# -----


# A part of a buffer is a subview; a nest in a loop that others share is raised alone.
# CHECK-LABEL: func.func @parts
# CHECK:         affine.for %[[I:.*]] = 0 to 8
# CHECK:           %[[ROW:.*]] = memref.subview %arg0[%[[I]], 2] [1, 9] [1, 1]
# CHECK:           linalg.generic {{.*}} ins(%[[ROW]]
# CHECK:           linalg.generic
@T.prim_func
def parts(A: T.Buffer((8, 12), "float32"), B: T.Buffer((8, 9), "float32"), C: T.Buffer((8, 9), "float32")):
    for i in range(8):
        for j in range(9):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj + 2]
        for j in range(9):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = T.exp(B[vi, vj])


# -----


# What is not a linalg op stays, and a warning says why.
# CHECK-LABEL: func.func @tail
# CHECK:         affine.parallel {{.*}} {
# STRICT: error: block "A" of tail remains: a block in it is guarded by T.where
@T.prim_func
def tail(A: T.Buffer((10,), "float32")):
    for i_0, i_1 in T.grid(3, 4):
        # expected-warning @below {{block "A" of tail remains: a block in it is guarded by T.where}}
        with T.block("A"):
            vi = T.axis.spatial(10, i_0 * 4 + i_1)
            T.where(i_0 * 4 + i_1 < 10)
            A[vi] = A[vi] + T.float32(1)


# -----


# CHECK-LABEL: func.func @scan
@T.prim_func
def scan(A: T.Buffer((10,), "float32")):
    for i in range(9):
        # expected-warning @below {{A is read at another index than it is written, so their order matters}}
        with T.block("A"):
            vi = T.axis.opaque(9, i)
            A[vi + 1] = A[vi + 1] + A[vi]
