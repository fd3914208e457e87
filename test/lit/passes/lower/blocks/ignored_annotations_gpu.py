# RUN: tir-opt %s --split-input-file --verify-diagnostics -p 'tir-lower-ignored-annotations{device=gpu}' | FileCheck %s


# CHECK-LABEL: func.func @pipelined
# CHECK: software_pipeline_stage
@T.prim_func
def pipelined(A: T.Buffer((8,), "float32")):
    # expected-warning @below {{loop "i": annotation "software_pipeline_stage" has no effect on a GPU; a copy in shared or local memory (cache_read, compute_at) loads what is used before it is used}}
    for i in T.serial(8, annotations={"software_pipeline_stage": [0]}):
        with T.block("A"):
            vi = T.axis.spatial(8, i)
            A[vi] = T.float32(0)


# -----


# CHECK-LABEL: func.func @prefetched
# CHECK: prefetch
@T.prim_func
def prefetched(A: T.Buffer((8,), "float32")):
    # expected-warning @below {{loop "i": annotation "prefetch" has no effect on a GPU; a copy in shared or local memory}}
    for i in T.serial(8, annotations={"prefetch": "A"}):
        with T.block("A"):
            vi = T.axis.spatial(8, i)
            A[vi] = T.float32(0)
