# RUN: tir-opt %s --split-input-file --verify-diagnostics --emit=script -p 'tir-shift-operand{block=C buffer=A}' | FileCheck %s


# CHECK-LABEL: def product(
@T.prim_func
def product(A: T.Buffer((8, 12), "int8"), B: T.Buffer((12, 6), "int8"), C: T.Buffer((8, 6), "int32")):
    # CHECK: A_global = T.alloc_buffer((8, 12), "uint8")
    # CHECK: C_shift = T.alloc_buffer((6,), "int32")
    # CHECK: A_global[v0, v1] = T.Cast("uint8", T.bitwise_xor(A[v0, v1], T.int8(-128)))
    # CHECK: for j, k in T.grid(6, 12):
    # CHECK-NEXT: with T.block("C_shift"):
    # CHECK: C_shift[vj] = 0
    # CHECK: C_shift[vj] = C_shift[vj] + T.Cast("int32", B[vk, vj])
    # CHECK: with T.block("C"):
    # CHECK: C[vi, vj] = C_shift[vj] * -128
    # CHECK: C[vi, vj] = C[vi, vj] + T.Cast("int32", A_global[vi, vk]) * T.Cast("int32", B[vk, vj])
    for i, j, k in T.grid(8, 6, 12):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = 0
            C[vi, vj] = C[vi, vj] + T.Cast("int32", A[vi, vk]) * T.Cast("int32", B[vk, vj])


# -----


@T.prim_func
def floats(A: T.Buffer((8, 12), "float32"), C: T.Buffer((8,), "float32")):
    for i, k in T.grid(8, 12):
        # expected-error @below {{block "C" does not add a product of integers with a widened element of A as a factor}}
        with T.block("C"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                C[vi] = 0.0
            C[vi] = C[vi] + A[vi, vk]


# -----


@T.prim_func
def tiled(A: T.Buffer((8, 12), "int8"), B: T.Buffer((12,), "int8"), C: T.Buffer((8,), "int32")):
    for i, k_0, k_1 in T.grid(8, 3, 4):
        # expected-error @below {{the loops of block "C" are not one for each iter, over its whole domain, with nothing else}}
        with T.block("C"):
            vi = T.axis.spatial(8, i)
            vk = T.axis.reduce(12, k_0 * 4 + k_1)
            with T.init():
                C[vi] = 0
            C[vi] = C[vi] + T.Cast("int32", A[vi, vk]) * T.Cast("int32", B[vk])
