# RUN: tir-opt %s --split-input-file --verify-diagnostics --emit=script -p 'tir-unannotate{loop=i key=width}' | FileCheck %s


# CHECK-LABEL: def annotated(
@T.prim_func
def annotated(A: T.Buffer((8,), "float32")):
    # CHECK: for i in T.serial(8, annotations={"other": 1}):
    for i in T.serial(8, annotations={"width": 4, "other": 1}):
        with T.block("A"):
            vi = T.axis.spatial(8, i)
            A[vi] = T.float32(0)


# -----


# CHECK-LABEL: def last(
@T.prim_func
def last(A: T.Buffer((8,), "float32")):
    # CHECK: for i in range(8):
    for i in T.serial(8, annotations={"width": 4}):
        with T.block("A"):
            vi = T.axis.spatial(8, i)
            A[vi] = T.float32(0)


# -----


@T.prim_func
# expected-error @below {{loop i has no annotation "width"; it has none}}
def plain(A: T.Buffer((8,), "float32")):
    for i in range(8):
        with T.block("A"):
            vi = T.axis.spatial(8, i)
            A[vi] = T.float32(0)
