# RUN: tir-opt %s --split-input-file --verify-diagnostics --emit=script -p 'tir-rfactor{loop=k_1 factor_axis=-1}' | FileCheck %s
# RUN: not tir-opt %S/../Inputs/init_block.py --split-input-file -p 'tir-rfactor{loop=#3 factor_axis=0}' 2>&1 | FileCheck %s --check-prefix=INIT
# RUN: tir-opt %S/../Inputs/rfactor_refused.py --split-input-file --verify-diagnostics -p 'tir-rfactor{loop=k_1 factor_axis=-1}'


# INIT: error: {{.*}}block "Y" is in an init region; only loops around blocks of a body can be factored
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
    # expected-error @below {{loop k_1 drives no reduce iter of block "B"; rfactor needs a reduce loop}}
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
        # expected-error @below {{the init of B is 1, which is not the identity of sum (0): every part of the reduction would start from it, so it would count several times}}
        with T.block("B"):
            vi, vk = T.axis.remap("SR", [i, k_1])
            with T.init():
                B[vi] = T.float32(1)
            B[vi] = B[vi] + A[vi, vk]


# -----


# A maximum may start from any number: it is combined several times, which changes nothing.
# CHECK-LABEL: def greatest(
@T.prim_func
def greatest(A: T.Buffer((8, 4), "float32"), B: T.Buffer((8,), "float32")):
    for i, k_1 in T.grid(8, 4):
        # CHECK: B[vi] = T.float32(0.0)
        # CHECK: B[vi] = T.max(B[vi], B_rf[{{.*}}])
        with T.block("B"):
            vi, vk = T.axis.remap("SR", [i, k_1])
            with T.init():
                B[vi] = T.float32(0)
            B[vi] = T.max(B[vi], T.abs(A[vi, vk]))


# -----


# The parts of a difference are added up.
# CHECK-LABEL: def minus(
@T.prim_func
def minus(A: T.Buffer((8, 4), "float32"), B: T.Buffer((8,), "float32")):
    for i, k_1 in T.grid(8, 4):
        # CHECK: B_rf[{{.*}}] = T.float32(0.0) - A[
        # CHECK: B[vi] = B[vi] + B_rf[{{.*}}]
        with T.block("B"):
            vi, vk = T.axis.remap("SR", [i, k_1])
            with T.init():
                B[vi] = T.float32(0)
            B[vi] = B[vi] - A[vi, vk]


# -----


@T.prim_func
def at_once(A: T.Buffer((8, 4), "float32"), B: T.Buffer((8,), "float32")):
    for i in range(8):
        # expected-error @below {{loop k_1 is unrolled; rfactor needs a serial loop: apply rfactor first}}
        for k_1 in T.unroll(4):
            with T.block("B"):
                vi, vk = T.axis.remap("SR", [i, k_1])
                with T.init():
                    B[vi] = T.float32(0)
                B[vi] = B[vi] + A[vi, vk]


# -----


@T.prim_func
def two(A: T.Buffer((8, 4), "float32"), B: T.Buffer((8,), "float32"), C: T.Buffer((8,), "float32")):
    # expected-error @below {{rfactor needs a loop with exactly one block under it; loop k_1 has "B", "C"}}
    for k_1 in range(8):
        with T.block("B"):
            vi = T.axis.spatial(8, k_1)
            B[vi] = A[vi, 0]
        with T.block("C"):
            vi = T.axis.spatial(8, k_1)
            C[vi] = A[vi, 1]


# -----


@T.prim_func
def condition(A: T.Buffer((8, 4), "float32"), B: T.Buffer((8,), "float32"), n: T.int32):
    for i in range(8):
        for k_1 in range(4):
            if n > 3:
                # expected-error @below {{block "B" is under an if; its loops are not a plain nest}}
                with T.block("B"):
                    vi, vk = T.axis.remap("SR", [i, k_1])
                    with T.init():
                        B[vi] = T.float32(0)
                    B[vi] = B[vi] + A[vi, vk]


# -----


@T.prim_func
def more(A: T.Buffer((8, 4), "float32"), B: T.Buffer((8,), "float32"), C: T.Buffer((8,), "float32")):
    for i in range(8):
        # expected-error @below {{the body of the reduce loop k_1 contains more than the nest of block "B"}}
        for k_1 in range(4):
            with T.block("B"):
                vi, vk = T.axis.remap("SR", [i, k_1])
                with T.init():
                    B[vi] = T.float32(0)
                B[vi] = B[vi] + A[vi, vk]
            C[i] = T.float32(1)


# -----


@T.prim_func
def bounds(A: T.Buffer((8, 4, 4), "float32"), B: T.Buffer((8,), "float32")):
    for i in range(8):
        for k_1 in range(4):
            # expected-error @below {{the bounds of loop t depend on the reduce loop k_1}}
            for t in range(k_1 + 1):
                with T.block("B"):
                    vi, vk, vt = T.axis.remap("SRR", [i, k_1, t])
                    with T.init():
                        B[vi] = T.float32(0)
                    B[vi] = B[vi] + A[vi, vk, vt]


# -----


@T.prim_func
def changing(A: T.Buffer((8, 8), "float32"), B: T.Buffer((8,), "float32")):
    for i in range(8):
        # expected-error @below {{the bounds of reduce loop k_1 vary; it must have a fixed extent}}
        for k_1 in range(i + 1):
            with T.block("B"):
                vi, vk = T.axis.remap("SR", [i, k_1])
                with T.init():
                    B[vi] = T.float32(0)
                B[vi] = B[vi] + A[vi, vk]


# -----


# A loop of one iteration that no iter uses: one part.
# CHECK-LABEL: def unit_loop(
@T.prim_func
def unit_loop(A: T.Buffer((8, 12), "float32"), B: T.Buffer((8,), "float32")):
    # CHECK: B_rf = T.alloc_buffer((8, 1))
    # CHECK: with T.block("B_rf"):
    # CHECK: B_rf[vi, vk_1] = B_rf[vi, vk_1] + A[vi, vk]
    # CHECK: with T.block("B"):
    # CHECK: B[vi] = B[vi] + B_rf[vi, vk_1]
    for i, k_1, k in T.grid(8, 1, 12):
        with T.block("B"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                B[vi] = T.float32(0)
            B[vi] = B[vi] + A[vi, vk]


# -----


# The new value first, and the stores in the other order.
# CHECK-LABEL: def new_value_first(
@T.prim_func
def new_value_first(A: T.Buffer((8, 12), "float32"), P: T.Buffer((8,), "int32"), B: T.Buffer((8,), "float32")):
    # CHECK: B_rf = T.alloc_buffer((8, 4))
    # CHECK-NEXT: P_rf = T.alloc_buffer((8, 4), "int32")
    # CHECK-NEXT: for i, k_0, k_1 in T.grid(8, 3, 4):
    # CHECK-NEXT: with T.block("B_rf"):
    # CHECK: v_B_rf: T.let[T.float32] = T.Select(B_rf[vi, vk_1] < A[vi, vk_0 * 4 + vk_1], A[vi, vk_0 * 4 + vk_1], B_rf[vi, vk_1])
    # CHECK-NEXT: v_P_rf: T.let[T.int32] = T.Select(B_rf[vi, vk_1] < A[vi, vk_0 * 4 + vk_1], vk_0 * 4 + vk_1, P_rf[vi, vk_1])
    # CHECK: for i, k_1 in T.grid(8, 4):
    # CHECK-NEXT: with T.block("B"):
    # CHECK: v_B: T.let[T.float32] = T.Select(B[vi] < B_rf[vi, vk_1], B_rf[vi, vk_1], B[vi])
    for i, k_0, k_1 in T.grid(8, 3, 4):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            vk = T.axis.reduce(12, k_0 * 4 + k_1)
            with T.init():
                B[vi] = T.min_value("float32")
                P[vi] = -1
            p = T.Select(A[vi, vk] > B[vi], vk, P[vi])
            v = T.Select(A[vi, vk] > B[vi], A[vi, vk], B[vi])
            B[vi] = v
            P[vi] = p
