# RUN: tir-opt %s --split-input-file --verify-diagnostics -p 'tir-lower-ignored-annotations' | FileCheck %s


# CHECK-LABEL: func.func @pipelined
# CHECK: software_pipeline_stage
@T.prim_func
def pipelined(A: T.Buffer((8,), "float32")):
    # expected-warning @below {{loop "i": annotation "software_pipeline_stage" has no effect; double_buffer of the copies in it}}
    for i in T.serial(8, annotations={"software_pipeline_stage": [0]}):
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
