# RUN: tir-opt %s --split-input-file --verify-diagnostics -p 'tir-graph-legalize,tir-graph-scratch' | FileCheck %s

# The padded image is a buffer of the function itself; the relu needs none.
# CHECK-LABEL: func.func @nn_conv2d(
# CHECK-SAME:    graph.scratch = {{[0-9]+}}
# CHECK-LABEL: func.func @nn_relu(
# CHECK-NOT:     graph.scratch
from tir_mlir.graph import script as R


@R.function
def main(x: R.Tensor((1, 64, 32, 32), "float32"), w: R.Tensor((8, 64, 3, 3), "float32")):
    with R.dataflow():
        lv = R.nn.conv2d(x, w, padding=1)
        gv = R.nn.relu(lv)
        R.output(gv)
    return gv

# -----
from tir_mlir.script import tir as T


@T.prim_func
# expected-error @below {{the module has no graph; fix: GraphBuilder, from_torch or @R.function make one}}
def main(A: T.Buffer((4,), "float32")):
    for i in range(4):
        with T.block("A"):
            vi = T.axis.spatial(4, i)
            A[vi] = 0.0
