# RUN: tir-opt %s --split-input-file --emit=script -p 'tir-reorder-block-iter-var{block=C new_order=2,0,1}' | FileCheck %s
# RUN: not tir-opt %s --split-input-file -p 'tir-reorder-block-iter-var{block=C new_order=2,0}' 2>&1 | FileCheck %s --check-prefix=SHORT
# RUN: not tir-opt %s --split-input-file -p 'tir-reorder-block-iter-var{block=C new_order=2,0,0}' 2>&1 | FileCheck %s --check-prefix=TWICE


# Iters and bindings change places, loops and body stay.
# SHORT: error: {{.*}}[2, 0] is not a permutation of the iters of block "C": 0: vi, 1: vj, 2: vk
# TWICE: error: {{.*}}[2, 0, 0] is not a permutation of the iters of block "C"
# CHECK-LABEL: def matmul(
@T.prim_func
def matmul(A: T.Buffer((4, 8), "float32"), B: T.Buffer((8, 6), "float32"), C: T.Buffer((4, 6), "float32")):
    # CHECK: for i, j, k in T.grid(4, 6, 8):
    for i, j, k in T.grid(4, 6, 8):
        with T.block("C"):
            # CHECK: vk, vi, vj = T.axis.remap("RSS", [k, i, j])
            # CHECK-NEXT: T.reads(A[vi, vk], B[vk, vj])
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = 0.0
            # CHECK: C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
            C[vi, vj] += A[vi, vk] * B[vk, vj]


# -----


# What is declared of an opaque body follows the iters, in the blocks inside as well.
# CHECK-LABEL: def declared(
@T.prim_func
def declared(A: T.Buffer((4, 6, 8), "float32")):
    for i, j, k in T.grid(4, 6, 8):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSS", [i, j, k])
            # CHECK: T.reads(A[vi, vj, 0:8])
            T.reads(A[vi, vj, 0:8])
            # CHECK-NEXT: T.writes(A[vi, vj, vk])
            T.writes(A[vi, vj, vk])
            with T.block("inner"):
                # CHECK: T.reads(A[vi, vj, 0:8])
                T.reads(A[vi, vj, 0:8])
                T.writes(A[vi, vj, vk])
                A[vi, vj, vk] = 1.0
