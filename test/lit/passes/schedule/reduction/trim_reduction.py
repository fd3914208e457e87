# RUN: tir-opt %s --split-input-file --verify-diagnostics --emit=script -p 'tir-trim-reduction{block=C loop=i_0}' | FileCheck %s


# CHECK-LABEL: def up_to(
@T.prim_func
def up_to(A: T.Buffer((60, 60), "float32"), C: T.Buffer((60,), "float32")):
    # CHECK: T.where(i_0 * 16 + i_1 < 60 and k <= i_0 * 16 + 15)
    for i_0, i_1, k in T.grid(4, 16, 60):
        with T.block("C"):
            vi = T.axis.spatial(60, i_0 * 16 + i_1)
            vk = T.axis.reduce(60, k)
            T.where(i_0 * 16 + i_1 < 60)
            with T.init():
                C[vi] = T.float32(0)
            C[vi] = C[vi] + T.if_then_else(vk <= vi, A[vi, vk], T.float32(0))


# -----


# What another block stores, times anything.
# CHECK-LABEL: def weights(
@T.prim_func
def weights(A: T.Buffer((8, 8), "float32"), V: T.Buffer((8,), "float32"), C: T.Buffer((8,), "float32")):
    # CHECK: with T.block("E")
    # CHECK-NOT: T.where
    # CHECK: with T.block("C")
    # CHECK: T.where(k <= i_0 + 2)
    E = T.alloc_buffer((8, 8))
    for i, k in T.grid(8, 8):
        with T.block("E"):
            vi, vk = T.axis.remap("SS", [i, k])
            E[vi, vk] = T.if_then_else(vk <= vi + 2, A[vi, vk], T.float32(0))
    for i_0, k in T.grid(8, 8):
        with T.block("C"):
            vi, vk = T.axis.remap("SR", [i_0, k])
            with T.init():
                C[vi] = T.float32(0)
            C[vi] = C[vi] + V[vk] * E[vi, vk]


# -----


# The start of a maximum, or less.
# CHECK-LABEL: def greatest(
@T.prim_func
def greatest(A: T.Buffer((8, 8), "float32"), C: T.Buffer((8,), "float32")):
    # CHECK: T.where(k <= i_0)
    for i_0, k in T.grid(8, 8):
        with T.block("C"):
            vi, vk = T.axis.remap("SR", [i_0, k])
            with T.init():
                C[vi] = T.float32(-5)
            C[vi] = T.max(C[vi], T.if_then_else(vk <= vi, A[vi, vk], T.float32(-5)))


# -----


@T.prim_func
def another_constant(A: T.Buffer((8, 8), "float32"), C: T.Buffer((8,), "float32")):
    for i_0, k in T.grid(8, 8):
        # expected-error @below {{in an iteration of loop i_0, the last term of block "C" is not known to be neutral}}
        with T.block("C"):
            vi, vk = T.axis.remap("SR", [i_0, k])
            with T.init():
                C[vi] = T.min_value("float32")
            C[vi] = T.max(C[vi], T.if_then_else(vk <= vi, A[vi, vk], T.float32(-1e30)))


# -----


@T.prim_func
def first_row(A: T.Buffer((8, 8), "float32"), C: T.Buffer((8,), "float32")):
    for i_0, k in T.grid(8, 8):
        # expected-error @below {{no term of block "C" counts in an iteration of loop i_0: its init would not run}}
        with T.block("C"):
            vi, vk = T.axis.remap("SR", [i_0, k])
            with T.init():
                C[vi] = T.float32(0)
            C[vi] = C[vi] + T.if_then_else(vk < vi, A[vi, vk], T.float32(0))


# -----


@T.prim_func
def another_nest(A: T.Buffer((8, 8), "float32"), B: T.Buffer((8,), "float32"), C: T.Buffer((8,), "float32")):
    # expected-error @below {{loop i_0 is not around block "C" (its loops: i, k)}}
    for i_0 in range(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i_0)
            B[vi] = T.float32(0)
    for i, k in T.grid(8, 8):
        with T.block("C"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                C[vi] = T.float32(0)
            C[vi] = C[vi] + T.if_then_else(vk <= vi, A[vi, vk], T.float32(0))


# -----


@T.prim_func
def no_sum(A: T.Buffer((8, 8), "float32"), C: T.Buffer((8, 8), "float32")):
    for i_0, k in T.grid(8, 8):
        # expected-error @below {{block "C" has no reduce iter}}
        with T.block("C"):
            vi, vk = T.axis.remap("SS", [i_0, k])
            C[vi, vk] = A[vi, vk]
