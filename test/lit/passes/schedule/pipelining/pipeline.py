# RUN: tir-opt %s --split-input-file --verify-diagnostics --emit=script -p 'tir-pipeline{loop=k stages=2}' | FileCheck %s
# RUN: tir-opt %s --split-input-file --emit=script -p 'tir-pipeline{loop=k stages=0,1 order=1,0}' 2>/dev/null | FileCheck %s --check-prefix=LISTS
# RUN: not tir-opt %s --split-input-file -p 'tir-pipeline{loop=k stages=1}' 2>&1 | FileCheck %s --check-prefix=ONE


# ONE: error: {{.*}}stages is at least 2, not 1: with one, loop k is as it is
# The first copy is a prologue; a block without an iter for the loop gets one.
# CHECK-LABEL: def ahead(
# CHECK: S = T.alloc_buffer((2, 4))
# CHECK: with T.block("S_prologue"):
# CHECK: vk = T.axis.opaque(8, 0)
# CHECK: S[vk % 2, vc] = A[vk * 4 + vc]
# CHECK: for k in range(8):
# CHECK: with T.block("S"):
# CHECK: vk = T.axis.opaque(8, k + 1)
# CHECK: T.where(k < 7)
# CHECK: S[vk % 2, vc] = A[vk * 4 + vc]
# CHECK: with T.block("B"):
# CHECK: B[0] = B[0] + S[vk % 2, vc]
# What is copied after it is read needs one plane.
# LISTS-LABEL: def ahead(
# LISTS: S = T.alloc_buffer((4,))
# LISTS: with T.block("S_prologue"):
# LISTS: for k in range(8):
# LISTS: with T.block("B"):
# LISTS: with T.block("S"):
# LISTS: T.where(k < 7)
@T.prim_func
def ahead(A: T.Buffer((32,), "float32"), B: T.Buffer((1,), "float32")):
    S = T.alloc_buffer((4,))
    for k in range(8):
        for c in range(4):
            with T.block("S"):
                vk, vc = T.axis.remap("OS", [k, c])
                S[vc] = A[vk * 4 + vc]
        for c in range(4):
            with T.block("B"):
                vc = T.axis.opaque(4, c)
                B[0] = B[0] + S[vc]


# -----


# Each child is in a nest, or a block alone; what all iterations share cannot run ahead.
@T.prim_func
def carried(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
    # expected-error @below {{the first child of loop k, S, is not a copy that could run ahead: A is a parameter}}
    for k in range(8):
        with T.block("S"):
            vk = T.axis.spatial(8, k)
            A[vk] = A[vk]
        with T.block("B"):
            vk = T.axis.spatial(8, k)
            B[vk] = A[vk]
