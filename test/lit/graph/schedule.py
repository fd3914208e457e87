# RUN: tir-opt %s --split-input-file --verify-diagnostics -p 'tir-graph-legalize,tir-graph-schedule{target=avx2 threads=1}' | FileCheck %s

# Each function tells where its schedule is from.
# CHECK-LABEL: func.func @exp(
# CHECK-SAME:    graph.schedule = "schedules.auto ({{.*}})"
# CHECK:         tir.kind = "vectorized"
from tir_mlir.graph import script as R


@R.function
def main(x: R.Tensor((4, 64), "float32")):
    with R.dataflow():
        gv = R.exp(x)
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
