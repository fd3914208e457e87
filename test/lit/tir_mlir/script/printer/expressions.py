# Values: arithmetic with few parentheses, constants with their type, casts, conditions, gathers.
# RUN: tir-opt %s --split-input-file --emit=script | FileCheck %s

from tir_mlir.script import tir as T


@T.prim_func
def arithmetic(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
    for i in range(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = (A[vi] + T.float32(1)) * A[vi] - (A[vi] - T.float32(2.5)) / A[vi]


# CHECK-LABEL: def arithmetic(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
# CHECK-NEXT: # with T.block("root"):
# CHECK-NEXT: for i in range(8):
# CHECK-NEXT: with T.block("B"):
# CHECK-NEXT: vi = T.axis.spatial(8, i)
# CHECK-NEXT: T.reads(A[vi])
# CHECK-NEXT: T.writes(B[vi])
# CHECK-NEXT: B[vi] = (A[vi] + T.float32(1.0)) * A[vi] - (A[vi] - T.float32(2.5)) / A[vi]

# -----

from tir_mlir.script import tir as T


@T.prim_func
def integers(A: T.Buffer((8,), "int32"), B: T.Buffer((8,), "int64")):
    for i in range(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = T.Cast("int64", A[vi] // 3 + A[vi] % 3 + vi) * T.int64(2)


# CHECK-LABEL: def integers(A: T.Buffer((8,), "int32"), B: T.Buffer((8,), "int64")):
# CHECK-NEXT: # with T.block("root"):
# CHECK-NEXT: for i in range(8):
# CHECK-NEXT: with T.block("B"):
# CHECK-NEXT: vi = T.axis.spatial(8, i)
# CHECK-NEXT: T.reads(A[vi])
# CHECK-NEXT: T.writes(B[vi])
# CHECK-NEXT: B[vi] = T.Cast("int64", A[vi] // 3 + A[vi] % 3 + vi) * T.int64(2)

# -----

from tir_mlir.script import tir as T


@T.prim_func
def functions(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
    for i in range(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = T.max(T.exp(A[vi]), T.sqrt(T.abs(A[vi])))


# CHECK-LABEL: def functions(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
# CHECK-NEXT: # with T.block("root"):
# CHECK-NEXT: for i in range(8):
# CHECK-NEXT: with T.block("B"):
# CHECK-NEXT: vi = T.axis.spatial(8, i)
# CHECK-NEXT: T.reads(A[vi])
# CHECK-NEXT: T.writes(B[vi])
# CHECK-NEXT: B[vi] = T.max(T.exp(A[vi]), T.sqrt(T.abs(A[vi])))

# -----

from tir_mlir.script import tir as T


@T.prim_func
def conditions(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
    for i in range(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = T.if_then_else(vi < 4, A[vi + 4], T.Select(A[vi] > T.float32(0), A[vi], T.float32(0)))


# CHECK-LABEL: def conditions(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
# CHECK-NEXT: # with T.block("root"):
# CHECK-NEXT: for i in range(8):
# CHECK-NEXT: with T.block("B"):
# CHECK-NEXT: vi = T.axis.spatial(8, i)
# CHECK-NEXT: T.reads(A[vi:vi + 5])
# CHECK-NEXT: T.writes(B[vi])
# CHECK-NEXT: B[vi] = T.if_then_else(vi < 4, A[vi + 4], T.Select(A[vi] > T.float32(0.0), A[vi], T.float32(0.0)))

# -----

from tir_mlir.script import tir as T


@T.prim_func
def branches(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
    for i in range(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            if A[vi] > T.float32(0):
                B[vi] = A[vi]
            else:
                B[vi] = T.float32(0)


# CHECK-LABEL: def branches(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
# CHECK-NEXT: # with T.block("root"):
# CHECK-NEXT: for i in range(8):
# CHECK-NEXT: with T.block("B"):
# CHECK-NEXT: vi = T.axis.spatial(8, i)
# CHECK-NEXT: T.reads(A[vi])
# CHECK-NEXT: T.writes(B[vi])
# CHECK-NEXT: if A[vi] > T.float32(0.0):
# CHECK-NEXT: B[vi] = A[vi]
# CHECK-NEXT: else:
# CHECK-NEXT: B[vi] = T.float32(0.0)

# -----

from tir_mlir.script import tir as T


@T.prim_func
def gather(A: T.Buffer((8,), "float32"), I: T.Buffer((8,), "int32"), B: T.Buffer((8,), "float32")):
    for i in range(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = A[I[vi]]


# CHECK-LABEL: def gather(A: T.Buffer((8,), "float32"), I_: T.Buffer((8,), "int32"), B: T.Buffer((8,), "float32")):
# CHECK-NEXT: # with T.block("root"):
# CHECK-NEXT: for i in range(8):
# CHECK-NEXT: with T.block("B"):
# CHECK-NEXT: vi = T.axis.spatial(8, i)
# CHECK-NEXT: T.reads(I_[vi], A[0:8])
# CHECK-NEXT: T.writes(B[vi])
# CHECK-NEXT: B[vi] = A[I_[vi]]
