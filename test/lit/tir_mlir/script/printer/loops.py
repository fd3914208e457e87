# Plain nested loops from 0 are one T.grid; kinds, other starts and annotations are written out.
# RUN: tir-opt %s --split-input-file --emit=script | FileCheck %s

from tir_mlir.script import tir as T


@T.prim_func
def grid(A: T.Buffer((4, 8), "float32")):
    for i in range(4):
        for j in range(8):
            with T.block("A"):
                vi, vj = T.axis.remap("SS", [i, j])
                A[vi, vj] = T.float32(0)


# CHECK-LABEL: def grid(A: T.Buffer((4, 8), "float32")):
# CHECK-NEXT: # with T.block("root"):
# CHECK-NEXT: for i, j in T.grid(4, 8):
# CHECK-NEXT: with T.block("A"):
# CHECK-NEXT: vi, vj = T.axis.remap("SS", [i, j])
# CHECK-NEXT: T.reads()
# CHECK-NEXT: T.writes(A[vi, vj])
# CHECK-NEXT: A[vi, vj] = T.float32(0.0)

# -----

from tir_mlir.script import tir as T


@T.prim_func
def not_a_grid(A: T.Buffer((8, 9), "float32")):
    for i in range(8):
        for j in range(i + 1):
            with T.block("A"):
                T.writes(A[i, j])
                A[i, j] = T.float32(0)


# CHECK-LABEL: def not_a_grid(A: T.Buffer((8, 9), "float32")):
# CHECK-NEXT: # with T.block("root"):
# CHECK-NEXT: for i in range(8):
# CHECK-NEXT: for j in range(i + 1):
# CHECK-NEXT: with T.block("A"):
# CHECK-NEXT: T.reads()
# CHECK-NEXT: T.writes(A[i, j])
# CHECK-NEXT: A[i, j] = T.float32(0.0)

# -----

from tir_mlir.script import tir as T


@T.prim_func
def kinds(A: T.Buffer((4, 8, 2), "float32")):
    for i in T.parallel(4):
        for j in T.vectorized(8):
            for k in T.unroll(2):
                with T.block("A"):
                    vi, vj, vk = T.axis.remap("SSS", [i, j, k])
                    A[vi, vj, vk] = T.float32(0)


# CHECK-LABEL: def kinds(A: T.Buffer((4, 8, 2), "float32")):
# CHECK-NEXT: # with T.block("root"):
# CHECK-NEXT: for i in T.parallel(4):
# CHECK-NEXT: for j in T.vectorized(8):
# CHECK-NEXT: for k in T.unroll(2):
# CHECK-NEXT: with T.block("A"):
# CHECK-NEXT: vi, vj, vk = T.axis.remap("SSS", [i, j, k])
# CHECK-NEXT: T.reads()
# CHECK-NEXT: T.writes(A[vi, vj, vk])
# CHECK-NEXT: A[vi, vj, vk] = T.float32(0.0)

# -----

from tir_mlir.script import tir as T


@T.prim_func
def threads(A: T.Buffer((4, 8), "float32")):
    for i in T.thread_binding(4, thread="blockIdx.x"):
        for j in T.thread_binding(8, thread="threadIdx.x"):
            with T.block("A"):
                vi, vj = T.axis.remap("SS", [i, j])
                A[vi, vj] = T.float32(0)


# CHECK-LABEL: def threads(A: T.Buffer((4, 8), "float32")):
# CHECK-NEXT: # with T.block("root"):
# CHECK-NEXT: for i in T.thread_binding(4, thread="blockIdx.x"):
# CHECK-NEXT: for j in T.thread_binding(8, thread="threadIdx.x"):
# CHECK-NEXT: with T.block("A"):
# CHECK-NEXT: vi, vj = T.axis.remap("SS", [i, j])
# CHECK-NEXT: T.reads()
# CHECK-NEXT: T.writes(A[vi, vj])
# CHECK-NEXT: A[vi, vj] = T.float32(0.0)

# -----

from tir_mlir.script import tir as T


@T.prim_func
def starts(A: T.Buffer((66,), "float32")):
    for i in range(2, 66):
        with T.block("A"):
            vi = T.axis.spatial((2, 66), i)
            A[vi] = T.float32(0)


# CHECK-LABEL: def starts(A: T.Buffer((66,), "float32")):
# CHECK-NEXT: # with T.block("root"):
# CHECK-NEXT: for i in range(2, 66):
# CHECK-NEXT: with T.block("A"):
# CHECK-NEXT: vi = T.axis.spatial((2, 66), i)
# CHECK-NEXT: T.reads()
# CHECK-NEXT: T.writes(A[vi])
# CHECK-NEXT: A[vi] = T.float32(0.0)

# -----

from tir_mlir.script import tir as T


@T.prim_func
def annotated(A: T.Buffer((8, 8), "float32")):
    for i in T.serial(8, annotations={"tag": "x", "factor": 4, "list": [1, 2], "on": True}):
        for j in range(8):
            with T.block("A"):
                vi, vj = T.axis.remap("SS", [i, j])
                A[vi, vj] = T.float32(0)


# CHECK-LABEL: def annotated(A: T.Buffer((8, 8), "float32")):
# CHECK-NEXT: # with T.block("root"):
# CHECK-NEXT: for i in T.serial(8, annotations={"factor": 4, "list": [1, 2], "on": T.bool(True), "tag": "x"}):
# CHECK-NEXT: for j in range(8):
# CHECK-NEXT: with T.block("A"):
# CHECK-NEXT: vi, vj = T.axis.remap("SS", [i, j])
# CHECK-NEXT: T.reads()
# CHECK-NEXT: T.writes(A[vi, vj])
# CHECK-NEXT: A[vi, vj] = T.float32(0.0)
