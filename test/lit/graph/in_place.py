# RUN: tir-opt %s --split-input-file --verify-diagnostics -p 'tir-graph-legalize,tir-graph-in-place' | FileCheck %s

# The sum may overwrite its first operand, which nobody reads later; the input of the graph is not overwritten.
# CHECK-LABEL: func.func @exp(
# CHECK-NOT:     graph.in_place
# CHECK-LABEL: func.func @add(
# CHECK-SAME:    graph.in_place = {{\[\[}}0, 2]]
# CHECK-LABEL: func.func @nn_relu(
# CHECK-SAME:    graph.in_place = {{\[\[}}0, 1]]
from tir_mlir.graph import script as R


@R.function
def main(x: R.Tensor((64,), "float32")):
    with R.dataflow():
        lv = R.exp(x)
        lv1 = R.add(lv, x)
        lv2 = R.nn.relu(lv1)
        gv = R.add(lv2, x)
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
