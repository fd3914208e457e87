# RUN: tir-opt %s --split-input-file --verify-diagnostics --emit=script -p 'tir-version-loop{loop=i at_most=2,16}' | FileCheck %s
# RUN: not tir-opt %s --split-input-file -p 'tir-version-loop{loop=i at_most=4,4}' 2>&1 | FileCheck %s --check-prefix=SAME

# SAME: the limits [4, 4] must be positive and increase

# CHECK-LABEL: def versions(
@T.prim_func
def versions(a: T.handle, b: T.handle):
    m = T.int32()
    A = T.match_buffer(a, (m, 16), "float32")
    B = T.match_buffer(b, (m, 16), "float32")
    # CHECK: with T.block("B_i_versions"):
    # CHECK-NEXT: T.reads(A[0:m, 0:16])
    # CHECK-NEXT: T.writes(B[0:m, 0:16])
    # CHECK-NEXT: with T.block("B_i0_version"):
    # CHECK-NEXT: T.where(m < 3)
    # CHECK: for i0, j in T.grid(m, 16):
    # CHECK-NEXT: with T.block("B_i0"):
    # CHECK: with T.block("B_i1_version"):
    # CHECK-NEXT: T.where(m >= 3 and m < 17)
    # CHECK: for i1, j in T.grid(m, 16):
    # CHECK-NEXT: with T.block("B_i1"):
    # CHECK: with T.block("B_i2_version"):
    # CHECK-NEXT: T.where(m >= 17)
    # CHECK: for i, j in T.grid(m, 16):
    # CHECK-NEXT: with T.block("B"):
    for i, j in T.grid(m, 16):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj]


# -----


@T.prim_func
def constant(A: T.Buffer((16,), "float32")):
    # expected-error @below {{loop i always runs 16 times, so one version is enough}}
    for i in range(16):
        with T.block("A"):
            v = T.axis.spatial(16, i)
            A[v] = T.float32(0)


# -----


@T.prim_func
def no_block(a: T.handle):
    m = T.int32()
    A = T.match_buffer(a, (m,), "float32")
    # expected-error @below {{loop i contains no block; version_loop names the versions after one}}
    for i in range(m):
        A[i] = T.float32(0)
