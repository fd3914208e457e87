# RUN: tir-opt %s --split-input-file --verify-diagnostics --import %S/../Inputs/add4.py --emit=script -p 'tir-tensorize{loop=i intrin=add4}' | FileCheck %s
# RUN: not tir-opt %s --split-input-file -p 'tir-tensorize{loop=i intrin=add4}' 2>&1 | FileCheck %s --check-prefix=UNKNOWN
# RUN: tir-opt %S/../Inputs/tensorize_starts.py --split-input-file --verify-diagnostics --import %S/../Inputs/add4_aligned.py -p 'tir-tensorize{loop=i intrin=add4_aligned}'


# UNKNOWN: error: {{.*}}"add4"
# CHECK-LABEL: def fits(
@T.prim_func
def fits(A: T.Buffer((4, 4), "float32"), B: T.Buffer((4, 4), "float32")):
    # CHECK: with T.block("B_o"):
    # CHECK: T.reads(A[vo_o, 0:4])
    # CHECK: T.writes(B[vo_o, 0:4])
    # CHECK: T.match_buffer(A[
    # CHECK: T.call_extern({{.*}}"add4_kernel"
    for o, i in T.grid(4, 4):
        with T.block("B"):
            vo, vi = T.axis.remap("SS", [o, i])
            B[vo, vi] = A[vo, vi] + T.float32(1)


# -----


@T.prim_func
# expected-error @below {{payload: the intrinsic computes addf(A, 1.000000e+00), the block computes mulf(A, 2.000000e+00)}}
def other_computation(A: T.Buffer((4, 4), "float32"), B: T.Buffer((4, 4), "float32")):
    for o, i in T.grid(4, 4):
        with T.block("B"):
            vo, vi = T.axis.remap("SS", [o, i])
            B[vo, vi] = A[vo, vi] * T.float32(2)


# -----


@T.prim_func
# expected-error @below {{iterators: the intrinsic needs vi: 4 spatial; the block has vi_i: 8 spatial}}
def other_extent(A: T.Buffer((4, 8), "float32"), B: T.Buffer((4, 8), "float32")):
    for o, i in T.grid(4, 8):
        with T.block("B"):
            vo, vi = T.axis.remap("SS", [o, i])
            B[vo, vi] = A[vo, vi] + T.float32(1)
