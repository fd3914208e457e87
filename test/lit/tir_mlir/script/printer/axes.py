# Iters that are plain loop variables over the loop's own range share a T.axis.remap; others are written out.
# RUN: tir-opt %s --split-input-file --emit=script | FileCheck %s

from tir_mlir.script import tir as T


@T.prim_func
def remap(A: T.Buffer((4, 8), "float32"), B: T.Buffer((4,), "float32")):
    for i, j in T.grid(4, 8):
        with T.block("B"):
            vi = T.axis.spatial(4, i)
            vj = T.axis.reduce(8, j)
            with T.init():
                B[vi] = T.float32(0)
            B[vi] = B[vi] + A[vi, vj]


# CHECK-LABEL: def remap(A: T.Buffer((4, 8), "float32"), B: T.Buffer((4,), "float32")):
# CHECK-NEXT: # with T.block("root"):
# CHECK-NEXT: for i, j in T.grid(4, 8):
# CHECK-NEXT: with T.block("B"):
# CHECK-NEXT: vi, vj = T.axis.remap("SR", [i, j])
# CHECK-NEXT: T.reads(A[vi, vj])
# CHECK-NEXT: T.writes(B[vi])
# CHECK-NEXT: with T.init():
# CHECK-NEXT: B[vi] = T.float32(0.0)
# CHECK-NEXT: B[vi] = B[vi] + A[vi, vj]

# -----

from tir_mlir.script import tir as T


@T.prim_func
def one_alone(A: T.Buffer((4,), "float32")):
    for i in range(4):
        with T.block("A"):
            vi = T.axis.remap("S", [i])
            A[vi] = T.float32(0)


# CHECK-LABEL: def one_alone(A: T.Buffer((4,), "float32")):
# CHECK-NEXT: # with T.block("root"):
# CHECK-NEXT: for i in range(4):
# CHECK-NEXT: with T.block("A"):
# CHECK-NEXT: vi = T.axis.spatial(4, i)
# CHECK-NEXT: T.reads()
# CHECK-NEXT: T.writes(A[vi])
# CHECK-NEXT: A[vi] = T.float32(0.0)

# -----

from tir_mlir.script import tir as T


@T.prim_func
def interrupted(A: T.Buffer((4, 8, 2), "float32")):
    for i, j0, j1, k in T.grid(4, 4, 2, 2):
        with T.block("A"):
            vi = T.axis.spatial(4, i)
            vj = T.axis.spatial(8, j0 * 2 + j1)
            vk = T.axis.spatial(2, k)
            A[vi, vj, vk] = T.float32(0)


# CHECK-LABEL: def interrupted(A: T.Buffer((4, 8, 2), "float32")):
# CHECK-NEXT: # with T.block("root"):
# CHECK-NEXT: for i, j0, j1, k in T.grid(4, 4, 2, 2):
# CHECK-NEXT: with T.block("A"):
# CHECK-NEXT: vi = T.axis.spatial(4, i)
# CHECK-NEXT: vj = T.axis.spatial(8, j0 * 2 + j1)
# CHECK-NEXT: vk = T.axis.spatial(2, k)
# CHECK-NEXT: T.reads()
# CHECK-NEXT: T.writes(A[vi, vj, vk])
# CHECK-NEXT: A[vi, vj, vk] = T.float32(0.0)

# -----

from tir_mlir.script import tir as T


@T.prim_func
def opaque(A: T.Buffer((4,), "int32")):
    for i in range(4):
        with T.block("A"):
            vi = T.axis.opaque(4, i)
            A[vi] = vi


# CHECK-LABEL: def opaque(A: T.Buffer((4,), "int32")):
# CHECK-NEXT: # with T.block("root"):
# CHECK-NEXT: for i in range(4):
# CHECK-NEXT: with T.block("A"):
# CHECK-NEXT: vi = T.axis.opaque(4, i)
# CHECK-NEXT: T.reads()
# CHECK-NEXT: T.writes(A[vi])
# CHECK-NEXT: A[vi] = vi

# -----

from tir_mlir.script import tir as T


@T.prim_func
def unit(A: T.Buffer((4, 1), "float32")):
    for i in range(4):
        with T.block("A"):
            vi = T.axis.spatial(4, i)
            vj = T.axis.spatial(1, 0)
            A[vi, vj] = T.float32(0)


# CHECK-LABEL: def unit(A: T.Buffer((4, 1), "float32")):
# CHECK-NEXT: # with T.block("root"):
# CHECK-NEXT: for i in range(4):
# CHECK-NEXT: with T.block("A"):
# CHECK-NEXT: vi = T.axis.spatial(4, i)
# CHECK-NEXT: vj = T.axis.spatial(1, 0)
# CHECK-NEXT: T.reads()
# CHECK-NEXT: T.writes(A[vi, vj])
# CHECK-NEXT: A[vi, vj] = T.float32(0.0)
