# RUN: tir-opt %s --split-input-file --verify-diagnostics --emit=script -p 'tir-transform-block-layout{block=B index_map="lambda i, j: (j // 4, i, j % 4)"}' | FileCheck %s
# RUN: tir-opt %S/../Inputs/keyword_indices.py --emit=script -p 'tir-transform-block-layout{block=B index_map="lambda *, i, j: (j, i)"}' | FileCheck %S/../Inputs/keyword_indices.py
# RUN: tir-opt %S/../Inputs/annotated_loop.py --emit=script -p 'tir-transform-block-layout{block=B index_map="lambda i, j: (j, i)"}' 2>&1 | FileCheck %S/../Inputs/annotated_loop.py
# RUN: not tir-opt %s --split-input-file -p 'tir-transform-block-layout{block=B index_map="lambda i, j: i + j"}' 2>&1 | FileCheck %s --check-prefix=TWO
# RUN: not tir-opt %s --split-input-file -p 'tir-transform-block-layout{block=B index_map="lambda i, j: (i // 4, i % 4, j)"}' 2>&1 | FileCheck %s --check-prefix=HOLES
# RUN: not tir-opt %s --split-input-file -p 'tir-transform-block-layout{block=B index_map="lambda i, j: (i - 1, j)"}' 2>&1 | FileCheck %s --check-prefix=BELOW
# RUN: not tir-opt %s --split-input-file -p 'tir-transform-block-layout{block=B index_map="lambda i: i"}' 2>&1 | FileCheck %s --check-prefix=ARITY
# RUN: not tir-opt %s --split-input-file -p 'tir-transform-block-layout{block=B index_map="lambda i, j: (i, j)"}' 2>&1 | FileCheck %s --check-prefix=SAME
# RUN: not tir-opt %S/../Inputs/one_point.py -p 'tir-transform-block-layout{block=B index_map="lambda i: ()"}' 2>&1 | FileCheck %s --check-prefix=NOTHING
# RUN: not tir-opt %S/../Inputs/mixed_kinds.py -p 'tir-transform-block-layout{block=B index_map="lambda i, j: i * 8 + j"}' 2>&1 | FileCheck %s --check-prefix=KINDS
# RUN: tir-opt %S/../Inputs/map_by_sizes.py --emit=script -p 'tir-transform-block-layout{block=B index_map="lambda i: (i // n, i % n)"}' | FileCheck %S/../Inputs/map_by_sizes.py --check-prefix=BLOCK
# RUN: not tir-opt %S/../Inputs/map_by_sizes.py -p 'tir-transform-block-layout{block=B index_map="lambda i: (i // n, i % m)"}' 2>&1 | FileCheck %S/../Inputs/map_by_sizes.py --check-prefix=DIGITS


# NOTHING: error: {{.*}}has no results; a block needs at least one iter
# KINDS: error: {{.*}}the new iter i * 8 + j mixes kinds: vi is spatial, vj is reduce; a new iter must depend on iters of one kind
# Loops and iters are those of the map; the body finds its old iters in them.
# TWO: error: {{.*}}maps two iterations of block "B" to the same point: (0, 1) and (1, 0) both map to (1,)
# HOLES: error: {{.*}}leaves points without an iteration, where axis0 == 1 and axis1 >= 2; a block runs over a box
# BELOW: error: {{.*}}takes (0, 0) to (-1, 0): an index must not be negative
# ARITY: error: {{.*}}takes 1 indices; there are 2
# CHECK-LABEL: def spatial(
@T.prim_func
def spatial(A: T.Buffer((6, 8), "float32"), B: T.Buffer((6, 8), "float32")):
    # CHECK: for ax0, ax1, ax2 in T.grid(2, 6, 4):
    # CHECK-NEXT: with T.block("B"):
    # CHECK-NEXT: v0, v1, v2 = T.axis.remap("SSS", [ax0, ax1, ax2])
    # CHECK-NEXT: T.reads(A[v1, v0 * 4 + v2])
    # CHECK-NEXT: T.writes(B[v1, v0 * 4 + v2])
    for i, j in T.grid(6, 8):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj]


# -----


# The iters of a sum stay reduce iters; the init runs where they start.
# CHECK-LABEL: def summed(
@T.prim_func
def summed(A: T.Buffer((6, 8), "float32"), B: T.Buffer((6,), "float32")):
    # CHECK: v0, v1, v2 = T.axis.remap("RSR", [ax0, ax1, ax2])
    # CHECK: with T.init():
    # CHECK-NEXT: B[v1] = T.float32(0.0)
    # CHECK: B[v1] = B[v1] + A[v1, v0 * 4 + v2]
    for i, j in T.grid(6, 8):
        with T.block("B"):
            vi, vj = T.axis.remap("SR", [i, j])
            with T.init():
                B[vi] = 0.0
            B[vi] = B[vi] + A[vi, vj]


# -----


@T.prim_func
def guarded(A: T.Buffer((6, 8), "float32"), B: T.Buffer((6, 8), "float32")):
    T_ = T.alloc_buffer((6, 8), "float32")
    for i, j in T.grid(6, 8):
        # expected-error @below {{block "B" has a guard (T.where); its iterations are not a box}}
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            T.where(i + j < 9)
            T_[vi, vj] = A[vi, vj]


# -----


@T.prim_func
def fewer_loops(A: T.Buffer((48,), "float32"), B: T.Buffer((6, 8), "float32")):
    for f in range(48):
        # expected-error @below {{block "B" has 2 iters in 1 loops; each iter must be bound to its own loop}}
        with T.block("B"):
            vi = T.axis.spatial(6, f // 8)
            vj = T.axis.spatial(8, f % 8)
            B[vi, vj] = A[vi * 8 + vj]


# -----


@T.prim_func
def other_binding(A: T.Buffer((6, 8), "float32"), B: T.Buffer((6, 8), "float32")):
    for i, j in T.grid(6, 8):
        # expected-error @below {{iter vi is not bound to loop i over its whole range; blockize first}}
        with T.block("B"):
            vi = T.axis.spatial(6, 5 - i)
            vj = T.axis.spatial(8, j)
            B[vi, vj] = A[vi, vj]


# -----


@T.prim_func
def not_alone(A: T.Buffer((6, 8), "float32"), B: T.Buffer((6, 8), "float32"), C: T.Buffer((6, 8), "float32")):
    for i in range(6):
        # expected-error @below {{the body of loop j contains more than the nest of block "B"}}
        for j in range(8):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj]
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = A[vi, vj]


# -----


@T.prim_func
def late_start(A: T.Buffer((6, 8), "float32"), B: T.Buffer((6, 8), "float32")):
    # expected-error @below {{loop i does not run from 0 to one extent}}
    for i in range(1, 7):
        for j in range(8):
            with T.block("B"):
                vi = T.axis.spatial((1, 7), i)
                vj = T.axis.spatial(8, j)
                B[vi - 1, vj] = A[vi - 1, vj]


# -----


# Each step forgets half of what came before: its order counts.
# SAME: func.func @decaying(
@T.prim_func
def decaying(A: T.Buffer((8, 8), "float32"), B: T.Buffer((8,), "float32")):
    # expected-error @below {{a dependence would run backwards: B(i=0, j=4) and B(i=1, j=0) touch B[0]}}
    for i, j in T.grid(8, 8):
        with T.block("B"):
            vi, vj = T.axis.remap("RR", [i, j])
            with T.init():
                B[0] = 0.0
            B[0] = B[0] * 0.5 + A[vi, vj]
