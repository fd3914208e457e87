# RUN: tir-opt %s --split-input-file --verify-diagnostics --emit=script -p 'tir-double-buffer{copies=A_sp loop=A_sp:k}' | FileCheck %s


# CHECK-LABEL: def rows(
@T.prim_func
def rows(A: T.Buffer((64,), "float32"), B: T.Buffer((16,), "float32")):
    # CHECK: A_sp = T.alloc_buffer((2, 16), scope="global.sp")
    A_sp = T.alloc_buffer((64,), "float32", scope="global.sp")
    # CHECK: for k in range(5):
    for k in range(4):
        for i in range(16):
            # CHECK: with T.block("A_sp"):
            # CHECK: T.where(k < 4)
            # CHECK: A_sp[v // 16 % 2, v % 16] = A[v]
            with T.block("A_sp"):
                v = T.axis.spatial(64, k * 16 + i)
                A_sp[v] = A[v]
        for i in range(16):
            # CHECK: with T.block("B"):
            # CHECK: vk = T.axis.reduce(4, k - 1)
            # CHECK: T.where(k >= 1)
            with T.block("B"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    B[vi] = T.float32(0)
                B[vi] = B[vi] + A_sp[vk * 16 + vi]


# -----


@T.prim_func
def shared(A: T.Buffer((64,), "float32"), B: T.Buffer((4, 16), "float32")):
    A_sp = T.alloc_buffer((80,), "float32", scope="global.sp")
    for i in range(80):
        # expected-error @below {{A_sp is used outside of loop k}}
        with T.block("zero"):
            v = T.axis.spatial(80, i)
            A_sp[v] = T.float32(0)
    for k in range(4):
        for i in range(16):
            with T.block("A_sp"):
                v = T.axis.spatial(64, k * 16 + i)
                A_sp[v] = A[v]
        for i in range(16):
            with T.block("B"):
                vi, vk = T.axis.remap("SS", [i, k])
                B[vk, vi] = A_sp[vk * 16 + vi + 16]


# -----


@T.prim_func
def last(A: T.Buffer((64,), "float32"), B: T.Buffer((4, 16), "float32")):
    A_sp = T.alloc_buffer((64,), "float32", scope="global.sp")
    # expected-error @below {{nothing in loop k follows the copies}}
    for k in range(4):
        for i in range(16):
            with T.block("A_sp"):
                v = T.axis.spatial(64, k * 16 + i)
                A_sp[v] = A[v]
    for k, i in T.grid(4, 16):
        with T.block("B"):
            vk, vi = T.axis.remap("SS", [k, i])
            B[vk, vi] = T.float32(1)
