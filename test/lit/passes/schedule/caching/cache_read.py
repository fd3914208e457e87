# RUN: tir-opt %s --split-input-file --verify-diagnostics --emit=script -p 'tir-cache-read{block=B buffer=Y scope=global.S}' | FileCheck %s
# RUN: tir-opt %S/../Inputs/readers_before_a_write.py --emit=script -p 'tir-cache-read{block=B buffer=Y scope=global.S consumer_blocks=B,E}' | FileCheck %S/../Inputs/readers_before_a_write.py
# RUN: not tir-opt %s --split-input-file -p 'tir-cache-read{block=B buffer=3 scope=global.S}' 2>&1 | FileCheck %s --check-prefix=NUMBER
# RUN: not tir-opt %s --split-input-file -p 'tir-cache-read{block=B buffer=0 scope=fast}' 2>&1 | FileCheck %s --check-prefix=SCOPE
# RUN: not tir-opt %s --split-input-file -p 'tir-cache-read{block=B buffer=Y scope=global.S consumer_blocks=Y}' 2>&1 | FileCheck %s --check-prefix=LISTED
# RUN: tir-opt %S/../Inputs/cache_read_refused.py --split-input-file --verify-diagnostics -p 'tir-cache-read{block=B buffer=0 scope=global.S}'


# LISTED: warning: {{.*}}consumer_blocks: block "Y" writes Y in the same scope, so it is not redirected
# An input is copied at the start of the scope.
# NUMBER: error: {{.*}}block "B" has no buffer number 3 among those it reads; it reads 0: Y
# SCOPE: error: {{.*}}'fast' is not a storage scope; use global, global.<tag>
# CHECK-LABEL: def an_input(
@T.prim_func
def an_input(Y: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
    # CHECK: Y_global_S = T.alloc_buffer((8,), scope="global.S")
    # CHECK: for ax0 in range(8):
    # CHECK: with T.block("Y_global.S"):
    # CHECK: Y_global_S[v0] = Y[v0]
    # CHECK: with T.block("B"):
    # CHECK: T.reads(Y_global_S[vi])
    for i in range(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = Y[vi] + Y[vi]


# -----


# What the scope computes is copied behind its writer, in the loop around both: only that row.
# CHECK-LABEL: def in_a_loop(
@T.prim_func
def in_a_loop(A: T.Buffer((4, 8), "float32"), B: T.Buffer((4, 8), "float32")):
    Y = T.alloc_buffer((4, 8), "float32")
    # CHECK: for i in range(4):
    for i in range(4):
        # CHECK: with T.block("Y"):
        for j in range(8):
            with T.block("Y"):
                vi, vj = T.axis.remap("SS", [i, j])
                Y[vi, vj] = A[vi, vj]
        # CHECK: for ax0, ax1 in T.grid(1, 8):
        # CHECK-NEXT: with T.block("Y_global.S"):
        # CHECK-NEXT: v0 = T.axis.spatial(4, i + ax0)
        for j in range(8):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = Y[vi, vj]


# -----


@T.prim_func
def two_writers(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
    Y = T.alloc_buffer((8,), "float32")
    for i in range(4):
        with T.block("Y0"):
            T.reads(A[i])
            T.writes(Y[i])
            Y[i] = A[i]
    for i in range(4):
        # expected-error @below {{Y is written by several blocks ("Y0", "Y1"); a cached buffer needs a single writer in the scope}}
        with T.block("Y1"):
            T.reads(A[i + 4])
            T.writes(Y[i + 4])
            Y[i + 4] = A[i + 4]
    for i in range(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = Y[vi]


# -----


# A block that writes Y and reads what it has not written reads a copy of the earlier contents.
# CHECK-LABEL: def its_earlier(
@T.prim_func
def its_earlier(A: T.Buffer((8,), "float32"), Y: T.Buffer((8,), "float32")):
    # CHECK: Y_global_S[v0] = Y[v0]
    # CHECK: T.reads(Y_global_S[vi], A[vi])
    # CHECK-NEXT: T.writes(Y[vi])
    # CHECK-NEXT: Y[vi] = Y_global_S[vi] + A[vi]
    for i in range(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            Y[vi] = Y[vi] + A[vi]


# -----


@T.prim_func
def its_own(A: T.Buffer((8,), "float32"), Y: T.Buffer((9,), "float32")):
    for i in range(8):
        # expected-error @below {{block "B" writes Y itself and must see its own writes; use cache_write}}
        with T.block("B"):
            vi = T.axis.opaque(8, i)
            Y[vi + 1] = Y[vi] + A[vi]
