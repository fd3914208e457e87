# RUN: tir-opt %s --split-input-file --verify-diagnostics -p 'tir-lower-ignored-annotations' | FileCheck %s


# CHECK-LABEL: func.func @buffered
# CHECK: async_scope
@T.prim_func
def buffered(A: T.Buffer((8,), "float32")):
    # expected-warning @below {{loop "i": annotation "async_scope" has no effect; pipeline of the loop around gives the buffer planes}}
    for i in T.serial(8, annotations={"async_scope": 0}):
        with T.block("A"):
            vi = T.axis.spatial(8, i)
            A[vi] = T.float32(0)


# -----


# What others read, and notes, are left alone.
# CHECK-LABEL: func.func @noted
@T.prim_func
def noted(A: T.Buffer((8,), "float32")):
    for i in T.serial(8, annotations={"meta_schedule.parallel": 4, "prefetch": "A", "my.note": 1}):
        with T.block("A"):
            T.block_attr({"auto_copy": True})
            vi = T.axis.spatial(8, i)
            A[vi] = T.float32(0)
