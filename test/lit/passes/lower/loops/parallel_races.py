# RUN: tir-opt %s --split-input-file --verify-diagnostics -p 'tir-lower-blocks,tir-lower-parallel-races' | FileCheck %s


# A parallel loop in a parallel loop runs in its thread.
# CHECK-LABEL: func.func @nested
# CHECK: } {{{.*}}tir.loop = "j"}
# CHECK: } {{{.*}}tir.kind = "parallel", tir.loop = "i"}
@T.prim_func
def nested(A: T.Buffer((8, 8), "float32")):
    for i in T.parallel(8):
        # expected-warning @below {{parallel loop "j" runs serially: it is in parallel loop "i"}}
        for j in T.parallel(8):
            with T.block("A"):
                vi, vj = T.axis.remap("SS", [i, j])
                A[vi, vj] = T.float32(0)


# -----


# Each iteration would have its own copy, if it were moved into the loop; as it stands they would meet in it.
# CHECK-LABEL: func.func @shared
# CHECK-NOT: tir.kind
@T.prim_func
def shared(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
    S = T.alloc_buffer((1,), "float32")
    # expected-warning @below {{runs serially: its iterations share buffer "S"}}
    for i in T.parallel(8):
        with T.block("S"):
            T.reads(A[i])
            T.writes(S[0])
            S[0] = A[i]
        with T.block("B"):
            T.reads(S[0])
            T.writes(B[i])
            B[i] = S[0]
