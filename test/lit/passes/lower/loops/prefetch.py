# RUN: tir-opt %s --split-input-file --mlir-print-local-scope -p 'tir-lower-blocks,tir-lower-prefetch' | FileCheck %s


# What the loop writes of C is asked for when an iteration starts: both ends, for 16 floats may lie in two lines.
# CHECK-LABEL: func.func @row
# CHECK: affine.for %[[I:.*]] = 0 to 8
# CHECK-NEXT: affine.prefetch %arg1[%[[I]], 0], write, locality<3>, data : memref<8x16xf32>
# CHECK-NEXT: affine.prefetch %arg1[%[[I]], 15], write
# CHECK-NEXT: affine.for
@T.prim_func
def row(A: T.Buffer((16,), "float32"), C: T.Buffer((8, 16), "float32")):
    for i in T.serial(8, annotations={"prefetch": "C"}):
        for j in range(16):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = A[vj]


# -----


# Iterations ahead, as long as there are any; an index that falls begins at its end.
# CHECK-LABEL: func.func @ahead
# CHECK: affine.for %[[I:.*]] = 0 to 8
# CHECK-NEXT: affine.if affine_set<(d0) : (-d0 + 5 >= 0)>(%[[I]])
# CHECK-NEXT: affine.prefetch %arg0[%[[I]] * 2 + 4, 0], read
# CHECK-NEXT: affine.prefetch %arg0[%[[I]] * 2 + 4, 3], read
# CHECK-NEXT: affine.prefetch %arg0[%[[I]] * 2 + 5, 0], read
# CHECK-NEXT: affine.prefetch %arg0[%[[I]] * 2 + 5, 3], read
# CHECK-NOT: affine.prefetch
@T.prim_func
def ahead(A: T.Buffer((16, 4), "float32"), C: T.Buffer((16, 4), "float32")):
    for i in T.serial(8, annotations={"prefetch": {"A": 2}}):
        for k, j in T.grid(2, 4):
            with T.block("C"):
                vi = T.axis.spatial(16, i * 2 + k)
                vj = T.axis.spatial(4, j)
                C[vi, vj] = A[vi, 3 - vj]


# -----


# A part of what the next iteration of a loop around reads: 4 x 16 floats in 3 x 4 iterations are 6 in each.
# CHECK-LABEL: func.func @next_panel
# CHECK: affine.for %[[J:.*]] = 0 to 8
# CHECK: affine.for %[[I:.*]] = 0 to 3
# CHECK-NEXT: affine.for %[[K:.*]] = 0 to 4
# CHECK-NEXT: affine.prefetch %arg1[%[[J]] + 1, 0, %[[I]] * 24 + %[[K]] * 6], read, locality<2>, data : memref<8x4x16xf32>
# CHECK-NOT: affine.prefetch
@T.prim_func
def next_panel(A: T.Buffer((3, 4), "float32"), W: T.Buffer((8, 4, 16), "float32"), C: T.Buffer((3, 8, 16), "float32")):
    for j, i in T.grid(8, 3):
        for k in T.serial(4, annotations={"prefetch": {"W": "j"}}):
            for x in range(16):
                with T.block("C"):
                    vi, vj, vx, vk = T.axis.remap("SSSR", [i, j, x, k])
                    with T.init():
                        C[vi, vj, vx] = T.float32(0)
                    C[vi, vj, vx] = C[vi, vj, vx] + A[vi, vk] * W[vj, vk, vx]


# -----


# Of what was peeled off a loop no iteration follows: the last rows ask for nothing, those before for parts.
# CHECK-LABEL: func.func @peeled
# CHECK: affine.for %[[J:.*]] = 0 to 7
# CHECK-NEXT: affine.for %[[K:.*]] = 0 to 4
# CHECK-NEXT: affine.prefetch %arg1[%[[J]] + 1, %[[K]] * 16], read
# CHECK-NOT: affine.prefetch
@T.prim_func
def peeled(A: T.Buffer((4,), "float32"), W: T.Buffer((8, 64), "float32"), C: T.Buffer((8, 64), "float32")):
    for j in T.serial(7):
        for k in T.serial(4, annotations={"prefetch": {"W": "j"}}):
            for x in range(16):
                with T.block("C"):
                    vj = T.axis.spatial((0, 7), j)
                    vk, vx = T.axis.remap("SS", [k, x])
                    C[vj, vk * 16 + vx] = A[vk] * W[vj, vk * 16 + vx]
    for k in T.serial(4, annotations={"prefetch": {"W": "j"}}):
        for x in range(16):
            with T.block("last"):
                vk, vx = T.axis.remap("SS", [k, x])
                C[7, vk * 16 + vx] = A[vk] * W[7, vk * 16 + vx]
