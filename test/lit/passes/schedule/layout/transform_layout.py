# RUN: tir-opt %s --split-input-file --verify-diagnostics --emit=script -p 'tir-transform-layout{block=B buffer=B index_map="lambda i: (i // 4, i % 4)" pad_value=0}' | FileCheck %s
# RUN: tir-opt %S/../Inputs/map_of_a_size.py --emit=script -p 'tir-transform-layout{block=B buffer=B index_map="lambda i: n - 1 - i"}' | FileCheck %S/../Inputs/map_of_a_size.py
# RUN: tir-opt %S/../Inputs/map_by_sizes.py --emit=script -p 'tir-transform-layout{block=B buffer=B index_map="lambda i: (i // n, i % n)" assume_injective_transform=true}' | FileCheck %S/../Inputs/map_by_sizes.py
# RUN: not tir-opt %S/../Inputs/map_by_sizes.py -p 'tir-transform-layout{block=B buffer=B index_map="lambda i: (i // n, i % n)"}' 2>&1 | FileCheck %S/../Inputs/map_by_sizes.py --check-prefix=OPEN
# RUN: not tir-opt %s --split-input-file -p 'tir-transform-layout{block=B buffer=B index_map="lambda i: (i // 4, i % 4)"}' 2>&1 | FileCheck %s --check-prefix=HOLES
# RUN: not tir-opt %s --split-input-file -p 'tir-transform-layout{block=B buffer=B index_map="lambda i: i // 2" pad_value=0}' 2>&1 | FileCheck %s --check-prefix=TWO
# RUN: not tir-opt %s --split-input-file -p 'tir-transform-layout{block=B buffer=B index_map="lambda i: i - 1" pad_value=0}' 2>&1 | FileCheck %s --check-prefix=BELOW
# RUN: not tir-opt %s --split-input-file -p 'tir-transform-layout{block=B buffer=B index_map="lambda i, j: (j, i)"}' 2>&1 | FileCheck %s --check-prefix=ARITY
# RUN: not tir-opt %s --split-input-file -p 'tir-transform-layout{block=B buffer=B index_map="lambda i: i * i"}' 2>&1 | FileCheck %s --check-prefix=AFFINE
# RUN: not tir-opt %s --split-input-file -p 'tir-transform-layout{block=B buffer=D index_map="lambda i: i"}' 2>&1 | FileCheck %s --check-prefix=NAME
# RUN: not tir-opt %s --split-input-file -p 'tir-transform-layout{block=B buffer=B index_map="lambda i: (i // 4, i % 4)" pad_value="lambda a, b: (a, b)"}' 2>&1 | FileCheck %s --check-prefix=VALUE
# RUN: not tir-opt %S/../Inputs/small_types.py --split-input-file -p 'tir-transform-layout{block=B buffer=B index_map="lambda i: (i // 4, i % 4)" pad_value=3}' 2>&1 | FileCheck %s --check-prefix=BOOL
# RUN: not tir-opt %S/../Inputs/small_types.py --split-input-file -p 'tir-transform-layout{block=B buffer=B index_map="lambda i: (i // 4, i % 4)" pad_value=2.5}' 2>&1 | FileCheck %s --check-prefix=FLOAT
# RUN: not tir-opt %S/../Inputs/small_types.py --split-input-file -p 'tir-transform-layout{block=B buffer=B index_map="lambda i: (i // 4, i % 4)" pad_value=300}' 2>&1 | FileCheck %s --check-prefix=LARGE
# RUN: not tir-opt %S/../Inputs/small_types.py --split-input-file -p 'tir-transform-layout{block=B buffer=B index_map="lambda i: (i // 4, i % 4)" pad_value="lambda a: a"}' 2>&1 | FileCheck %s --check-prefix=RANK


# BOOL: error: {{.*}}B has type bool; lambda i0, i1: 3 as its padding value is not a bool
# FLOAT: error: {{.*}}B has type int8; 2.5 as its padding value is a float
# LARGE: error: {{.*}}300 as the padding value does not fit int8, the type of B
# RANK: error: {{.*}}the padding value: the map lambda a: a takes 1 indices; there are 2
# The producer sweeps the new shape and writes the padding; readers follow, simplified under their ranges.
# HOLES: error: {{.*}}leaves padding in the new B: where axis0 == 3 and axis1 >= 2; pass a pad_value for it
# TWO: error: {{.*}}maps two elements of B to the same index: (0,) and (1,) both map to (0,)
# BELOW: error: {{.*}}takes (0,) to (-1,): an index must not be negative
# ARITY: error: {{.*}}takes 2 indices; there are 1
# AFFINE: error: {{.*}}i * i: a product of two variables is not affine
# NAME: error: {{.*}}block "B" neither reads nor writes a buffer 'D'; it accesses A, B
# VALUE: error: {{.*}}the padding value is one expression; lambda a, b: (a, b) gives 2
# CHECK-LABEL: def swept(
@T.prim_func
def swept(A: T.Buffer((14,), "float32"), C: T.Buffer((14,), "float32")):
    # CHECK: B = T.alloc_buffer((4, 4))
    B = T.alloc_buffer((14,), "float32")
    # CHECK: for axis0, axis1 in T.grid(4, 4):
    # CHECK-NEXT: with T.block("B"):
    # CHECK-NEXT: v_axis0, v_axis1 = T.axis.remap("SS", [axis0, axis1])
    # CHECK-NEXT: T.reads(A[v_axis0 * 4 + v_axis1])
    # CHECK-NEXT: T.writes(B[v_axis0, v_axis1])
    # CHECK-NEXT: B[v_axis0, v_axis1] = T.if_then_else(v_axis0 == 3 and v_axis1 >= 2, T.float32(0.0), A[v_axis0 * 4 + v_axis1] + T.float32(1.0))
    for i in range(14):
        with T.block("B"):
            vi = T.axis.spatial(14, i)
            B[vi] = A[vi] + 1.0
    # CHECK: C[vi * 2 + vj] = B[vi // 2, vi % 2 * 2 + vj]
    for i, j in T.grid(7, 2):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi * 2 + vj] = B[vi * 2 + vj]


# -----


# A reduction fills the padding at its init and at each update.
# CHECK-LABEL: def summed(
@T.prim_func
def summed(A: T.Buffer((14, 8), "float32"), B: T.Buffer((14,), "float32")):
    # CHECK: for axis0, axis1, k in T.grid(4, 4, 8):
    for i, k in T.grid(14, 8):
        with T.block("B"):
            # CHECK: v_axis0, v_axis1, vk = T.axis.remap("SSR", [axis0, axis1, k])
            vi, vk = T.axis.remap("SR", [i, k])
            # CHECK: with T.init():
            # CHECK-NEXT: B[v_axis0, v_axis1] = T.if_then_else(v_axis0 == 3 and v_axis1 >= 2, T.float32(0.0), T.float32(0.0))
            with T.init():
                B[vi] = 0.0
            # CHECK: B[v_axis0, v_axis1] = T.if_then_else(v_axis0 == 3 and v_axis1 >= 2, T.float32(0.0), B[v_axis0, v_axis1] + A[v_axis0 * 4 + v_axis1, vk])
            B[vi] = B[vi] + A[vi, vk]


# -----


# Another writer keeps its loops; a block after it writes the padding.
# CHECK-LABEL: def beside(
@T.prim_func
def beside(A: T.Buffer((14,), "float32"), B: T.Buffer((14,), "float32")):
    # CHECK: for i, j in T.grid(7, 2):
    # CHECK: B[vi // 4, vi % 4] = A[vi]
    for i, j in T.grid(7, 2):
        with T.block("B"):
            vi = T.axis.spatial(14, i * 2 + j)
            B[vi] = A[vi]
    # CHECK: for axis0, axis1 in T.grid(4, 4):
    # CHECK-NEXT: with T.block("buffer_B_padding"):
    # CHECK: T.where(axis0 == 3 and axis1 >= 2)
    # CHECK: B[v_axis0, v_axis1] = T.float32(0.0)


# -----


# Of an input that nobody writes, the padding is a promise of the caller.
# CHECK-LABEL: def promised(
@T.prim_func
def promised(B: T.Buffer((14,), "float32"), C: T.Buffer((14,), "float32")):
    # CHECK: with T.block("buffer_B_assumptions"):
    # CHECK: T.assume(not (v_axis0 == 3 and v_axis1 >= 2) or B[v_axis0, v_axis1] == T.float32(0.0))
    # CHECK: C[vi] = B[vi // 4, vi % 4]
    for i in range(14):
        with T.block("B"):
            vi = T.axis.spatial(14, i)
            C[vi] = B[vi]


# -----


# A computed index is mapped by arithmetic.
# CHECK-LABEL: def gathered(
@T.prim_func
def gathered(B: T.Buffer((16,), "float32"), P: T.Buffer((4,), "int32"), C: T.Buffer((4,), "float32")):
    # CHECK: C[vi] = B[P[vi] // 4, P[vi] % 4]
    for i in range(4):
        with T.block("B"):
            vi = T.axis.spatial(4, i)
            C[vi] = B[P[vi]]


# -----


@T.prim_func
def seen_as_a_region(B: T.Buffer((16,), "float32")):
    for i in range(4):
        # expected-error @below {{M is a region of B (T.match_buffer), which would not be contiguous in another layout}}
        with T.block("B"):
            vi = T.axis.spatial(4, i)
            M = T.match_buffer(B[vi * 4 : vi * 4 + 4], (4,), offset_factor=1)
            for j in range(4):
                M[j] = 0.0


# -----


@T.prim_func
def pointed_at(B: T.Buffer((16,), "float32")):
    # expected-error @below {{B is not only loaded and stored: a pointer into it depends on its layout}}
    with T.block("B"):
        T.reads(B[0:16])
        T.writes(B[0:16])
        T.evaluate(T.call_extern("int32", "f", B.access_ptr("rw")))


# -----


@T.prim_func
# expected-error @below {{n is known from the extent of B alone, and its new extents do not determine it}}
def only_size(b: T.handle):
    n = T.int32()
    B = T.match_buffer(b, (n,), "float32")
    for i in range(n):
        with T.block("B"):
            vi = T.axis.spatial(n, i)
            B[vi] = 0.0


# -----


@T.prim_func
# expected-error @below {{the strides of B are given by its caller; only the layout of row-major buffers can change}}
def strided(b: T.handle):
    s = T.int32()
    B = T.match_buffer(b, (16,), "float32", strides=(s,))
    for i in range(16):
        with T.block("B"):
            vi = T.axis.spatial(16, i)
            B[vi] = 0.0


# -----


@T.prim_func
def whole_numbers(A: T.Buffer((14,), "int8"), B: T.Buffer((14,), "int8")):
    # CHECK: T.if_then_else(v_axis0 == 3 and v_axis1 >= 2, T.int8(0), A[v_axis0 * 4 + v_axis1])
    for i in range(14):
        with T.block("B"):
            vi = T.axis.spatial(14, i)
            B[vi] = A[vi]
