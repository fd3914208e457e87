# RUN: tir-opt %s --split-input-file --verify-diagnostics --emit=script -p 'tir-rfactor{loop=k_1 factor_axis=-1}' | FileCheck %s
# RUN: not tir-opt %S/Inputs/init_block.py --split-input-file -p 'tir-rfactor{loop=#3 factor_axis=0}' 2>&1 | FileCheck %s --check-prefix=INIT


# INIT: error: {{.*}}block "Y" stands in an init region; only the blocks of a body have loops that can be factored
# CHECK-LABEL: def total(
@T.prim_func
def total(A: T.Buffer((8, 12), "float32"), B: T.Buffer((8,), "float32")):
    # CHECK: B_rf = T.alloc_buffer((8, 4))
    # CHECK: for i, k_0, k_1 in T.grid(8, 3, 4):
    # CHECK-NEXT: with T.block("B_rf"):
    # CHECK-NEXT: vk_1, vi, vk_0 = T.axis.remap("SSR", [k_1, i, k_0])
    # CHECK: B_rf[vi, vk_1] = T.float32(0.0)
    # CHECK: B_rf[vi, vk_1] = B_rf[vi, vk_1] + A[vi, vk_0 * 4 + vk_1]
    # CHECK: for i, k_1 in T.grid(8, 4):
    # CHECK-NEXT: with T.block("B"):
    # CHECK-NEXT: vk_1, vi = T.axis.remap("RS", [k_1, i])
    # CHECK: B[vi] = B[vi] + B_rf[vi, vk_1]
    for i, k_0, k_1 in T.grid(8, 3, 4):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            vk = T.axis.reduce(12, k_0 * 4 + k_1)
            with T.init():
                B[vi] = T.float32(0)
            B[vi] = B[vi] + A[vi, vk]


# -----


@T.prim_func
def spatial(A: T.Buffer((8, 4), "float32"), B: T.Buffer((8,), "float32")):
    # expected-error @below {{loop k_1 drives no reduce iter of block "B"; rfactor takes a loop of the reduction apart}}
    for k_1, k in T.grid(8, 4):
        with T.block("B"):
            vi, vk = T.axis.remap("SR", [k_1, k])
            with T.init():
                B[vi] = T.float32(0)
            B[vi] = B[vi] + A[vi, vk]


# -----


@T.prim_func
def start(A: T.Buffer((8, 4), "float32"), B: T.Buffer((8,), "float32")):
    for i, k_1 in T.grid(8, 4):
        # expected-error @below {{the init of B is 1, which is not the identity of sum (0): every part of the reduction would start from it, and it would count several times}}
        with T.block("B"):
            vi, vk = T.axis.remap("SR", [i, k_1])
            with T.init():
                B[vi] = T.float32(1)
            B[vi] = B[vi] + A[vi, vk]


# -----


@T.prim_func
def unknown(A: T.Buffer((8, 4), "float32"), B: T.Buffer((8,), "float32")):
    for i, k_1 in T.grid(8, 4):
        # expected-error @below {{the update of B in block "B" is no known reduction; known are sum, product, T.max and T.min}}
        with T.block("B"):
            vi, vk = T.axis.remap("SR", [i, k_1])
            with T.init():
                B[vi] = T.float32(0)
            B[vi] = B[vi] - A[vi, vk]


# -----


@T.prim_func
def turned_round(A: T.Buffer((8, 4), "float32"), B: T.Buffer((8,), "float32")):
    for i, k_1 in T.grid(8, 4):
        # expected-error @below {{the update of block "B" has the old value of B on the right; write it as B[...] = B[...] + new value}}
        with T.block("B"):
            vi, vk = T.axis.remap("SR", [i, k_1])
            with T.init():
                B[vi] = T.float32(0)
            B[vi] = A[vi, vk] + B[vi]


# -----


@T.prim_func
def at_once(A: T.Buffer((8, 4), "float32"), B: T.Buffer((8,), "float32")):
    for i in range(8):
        # expected-error @below {{loop k_1 is unrolled; rfactor needs a serial loop: rfactor first}}
        for k_1 in T.unroll(4):
            with T.block("B"):
                vi, vk = T.axis.remap("SR", [i, k_1])
                with T.init():
                    B[vi] = T.float32(0)
                B[vi] = B[vi] + A[vi, vk]


# -----


@T.prim_func
def repeated(A: T.Buffer((8, 4), "float32"), B: T.Buffer((8,), "float32")):
    for i, k_1 in T.grid(8, 4):
        # expected-error @below {{loop t repeats block "B" beneath the reduce loop k_1 without being bound to an iter}}
        for t in range(2):
            with T.block("B"):
                vi, vk = T.axis.remap("SR", [i, k_1])
                with T.init():
                    B[vi] = T.float32(0)
                B[vi] = B[vi] + A[vi, vk]


# -----


@T.prim_func
def two(A: T.Buffer((8, 4), "float32"), B: T.Buffer((8,), "float32"), C: T.Buffer((8,), "float32")):
    # expected-error @below {{rfactor needs a loop with exactly one block beneath it; loop k_1 has "B", "C"}}
    for k_1 in range(8):
        with T.block("B"):
            vi = T.axis.spatial(8, k_1)
            B[vi] = A[vi, 0]
        with T.block("C"):
            vi = T.axis.spatial(8, k_1)
            C[vi] = A[vi, 1]
