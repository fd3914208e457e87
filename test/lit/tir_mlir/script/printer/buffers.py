# Parameters with plain shapes are annotations; others are handles with T.match_buffer; symbolic shapes are declared.
# RUN: tir-opt %s --split-input-file --emit=script | FileCheck %s

from tir_mlir.script import tir as T


@T.prim_func
def symbolic(a: T.handle, b: T.handle, n: T.int32):
    m = T.int32()
    A = T.match_buffer(a, (n, m), "float32")
    B = T.match_buffer(b, (n, m), "float16")
    for i, j in T.grid(n, m):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = T.Cast("float16", A[vi, vj])


# CHECK-LABEL: def symbolic(var_A: T.handle, var_B: T.handle, n: T.int32):
# CHECK-NEXT: m = T.int32()
# CHECK-NEXT: A = T.match_buffer(var_A, (n, m))
# CHECK-NEXT: B = T.match_buffer(var_B, (n, m), "float16")
# CHECK-NEXT: # with T.block("root"):
# CHECK-NEXT: for i, j in T.grid(n, m):
# CHECK-NEXT: with T.block("B"):
# CHECK-NEXT: vi, vj = T.axis.remap("SS", [i, j])
# CHECK-NEXT: T.reads(A[vi, vj])
# CHECK-NEXT: T.writes(B[vi, vj])
# CHECK-NEXT: B[vi, vj] = T.Cast("float16", A[vi, vj])

# -----

from tir_mlir.script import tir as T


@T.prim_func
def strided(a: T.handle):
    s = T.int32()
    A = T.match_buffer(a, (16, 16), "float32", strides=[s, 1], offset_factor=16, scope="global.A_reg")
    for i, j in T.grid(16, 16):
        with T.block("A"):
            vi, vj = T.axis.remap("SS", [i, j])
            A[vi, vj] = T.float32(0)


# CHECK-LABEL: def strided(var_A: T.handle):
# CHECK-NEXT: A = T.match_buffer(var_A, (16, 16), strides=("s", 1), scope="global.A_reg", offset_factor=16)
# CHECK-NEXT: # with T.block("root"):
# CHECK-NEXT: for i, j in T.grid(16, 16):
# CHECK-NEXT: with T.block("A"):
# CHECK-NEXT: vi, vj = T.axis.remap("SS", [i, j])
# CHECK-NEXT: T.reads()
# CHECK-NEXT: T.writes(A[vi, vj])
# CHECK-NEXT: A[vi, vj] = T.float32(0.0)

# -----

from tir_mlir.script import tir as T


@T.prim_func
def attributes(A: T.Buffer((8,), "int8"), B: T.Buffer((8,), "bool")):
    T.func_attr({"tir.noalias": True, "global_symbol": "other"})
    for i in range(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = A[vi] > T.int8(0)


# CHECK-LABEL: def attributes(A: T.Buffer((8,), "int8"), B: T.Buffer((8,), "bool")):
# CHECK-NEXT: T.func_attr({"global_symbol": "other", "tir.noalias": T.bool(True)})
# CHECK-NEXT: # with T.block("root"):
# CHECK-NEXT: for i in range(8):
# CHECK-NEXT: with T.block("B"):
# CHECK-NEXT: vi = T.axis.spatial(8, i)
# CHECK-NEXT: T.reads(A[vi])
# CHECK-NEXT: T.writes(B[vi])
# CHECK-NEXT: B[vi] = A[vi] > T.int8(0)
