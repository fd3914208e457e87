# RUN: tir-opt %s --split-input-file --verify-diagnostics --emit=script -p 'tir-lower-software-pipelines' | FileCheck %s


# As a script for TVM has it: the body of the loop is a block that holds the others and their buffer.
# CHECK-LABEL: def annotated(
# CHECK: S = T.alloc_buffer((2, 4))
# CHECK: with T.block("S_prologue"):
# CHECK: for k in T.serial(8, annotations={"my.note": 1}):
# CHECK: T.where(k < 7)
# CHECK: S[vk % 2, vc] = A[vk * 4 + vc]
# CHECK: with T.block("B"):
# CHECK: B[0] = B[0] + S[vk % 2, vc]
@T.prim_func
def annotated(A: T.Buffer((32,), "float32"), B: T.Buffer((1,), "float32")):
    for k in T.serial(
        8,
        annotations={
            "software_pipeline_stage": [0, 1],
            "software_pipeline_order": [0, 1],
            "software_pipeline_async_stages": [0],
            "my.note": 1,
        },
    ):
        with T.block("step"):
            vk = T.axis.opaque(8, k)
            S = T.alloc_buffer((4,))
            for c in range(4):
                with T.block("S"):
                    vc = T.axis.spatial(4, c)
                    S[vc] = A[vk * 4 + vc]
            for c in range(4):
                with T.block("B"):
                    vc = T.axis.opaque(4, c)
                    B[0] = B[0] + S[vc]


# -----


@T.prim_func
def alone(A: T.Buffer((8,), "float32")):
    # expected-error @below {{loop "i" cannot be the pipeline it is annotated as: "software_pipeline_stage" is missing}}
    for i in T.serial(8, annotations={"software_pipeline_order": [0]}):
        with T.block("A"):
            vi = T.axis.spatial(8, i)
            A[vi] = T.float32(0)


# -----


@T.prim_func
def no_such_stage(A: T.Buffer((8,), "float32")):
    # expected-error @below {{"software_pipeline_async_stages" has [2], which no child has as its stage}}
    for i in T.serial(8, annotations={"software_pipeline_stage": [0], "software_pipeline_async_stages": [2]}):
        with T.block("A"):
            vi = T.axis.spatial(8, i)
            A[vi] = T.float32(0)


# -----


@T.prim_func
def too_many(A: T.Buffer((8,), "float32")):
    # expected-error @below {{stages has 3 numbers, the body of loop i has 1 children: A}}
    for i in T.serial(8, annotations={"software_pipeline_stage": [0, 0, 1]}):
        with T.block("A"):
            vi = T.axis.spatial(8, i)
            A[vi] = T.float32(0)


# -----


# The block fills its buffer an iteration ahead of what reads it.
# CHECK-LABEL: def double_buffer(
# CHECK: S = T.alloc_buffer((2, 4))
# CHECK: with T.block("S_prologue"):
# CHECK: for k in range(8):
# CHECK: T.where(k < 7)
# CHECK-NOT: double_buffer_scope
# CHECK: S[vk % 2, vc] = A[vk * 4 + vc]
# CHECK: with T.block("B"):
# CHECK: B[0] = B[0] + S[vk % 2, vc]
@T.prim_func
def double_buffer(A: T.Buffer((32,), "float32"), B: T.Buffer((1,), "float32")):
    S = T.alloc_buffer((4,))
    for k in range(8):
        for c in range(4):
            with T.block("S"):
                T.block_attr({"double_buffer_scope": 0})
                vk, vc = T.axis.remap("OS", [k, c])
                S[vc] = A[vk * 4 + vc]
        for c in range(4):
            with T.block("B"):
                vc = T.axis.opaque(4, c)
                B[0] = B[0] + S[vc]


# -----


@T.prim_func
def on_a_loop(A: T.Buffer((8,), "float32")):
    # expected-error @below {{annotation "double_buffer_scope" is of the block that fills the buffer; fix: annotate that block}}
    for i in T.serial(8, annotations={"double_buffer_scope": 0}):
        with T.block("A"):
            vi = T.axis.spatial(8, i)
            A[vi] = T.float32(0)


# -----


@T.prim_func
def single(A: T.Buffer((8,), "float32")):
    for i in range(8):
        # expected-error @below {{block "A" is alone in its loops, so that nothing runs beside it; fix: compute_at it}}
        with T.block("A"):
            T.block_attr({"double_buffer_scope": 0})
            vi = T.axis.spatial(8, i)
            A[vi] = T.float32(0)


# -----


@T.prim_func
def no_such_buffer(A: T.Buffer((32,), "float32"), B: T.Buffer((1,), "float32"), S: T.Buffer((4,), "float32")):
    for k in range(8):
        for c in range(4):
            # expected-error @below {{is 3, the position of a buffer that the block writes; it writes S; fix: use a number below 1}}
            with T.block("S"):
                T.block_attr({"double_buffer_scope": 3})
                vk, vc = T.axis.remap("OS", [k, c])
                S[vc] = A[vk * 4 + vc]
        for c in range(4):
            with T.block("B"):
                vc = T.axis.opaque(4, c)
                B[0] = B[0] + S[vc]


# -----


@T.prim_func
def a_parameter(A: T.Buffer((32,), "float32"), B: T.Buffer((1,), "float32"), S: T.Buffer((4,), "float32")):
    for k in range(8):
        for c in range(4):
            # expected-error @below {{loop "k" cannot run it ahead: with stages [0, 1]}}
            with T.block("S"):
                T.block_attr({"double_buffer_scope": 0})
                vk, vc = T.axis.remap("OS", [k, c])
                S[vc] = A[vk * 4 + vc]
        for c in range(4):
            with T.block("B"):
                vc = T.axis.opaque(4, c)
                B[0] = B[0] + S[vc]
