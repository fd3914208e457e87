# RUN: tir-opt %s --split-input-file --verify-diagnostics -p 'tir-graph-legalize,tir-graph-schedule{target=cuda-emulated},tir-graph-emulate{target=cuda-emulated}' | FileCheck %s

# Blocks of threads become a parallel loop, threads one that is not bound. For other targets nothing happens.
# CHECK-LABEL: func.func @exp(
# CHECK-SAME:    graph.schedule = "schedules.auto ({{.*}})"
# CHECK:         math.exp
# CHECK-NOT:     threadIdx
# CHECK:         tir.kind = "parallel"
# CHECK-NOT:     blockIdx
from tir_mlir.graph import script as R


@R.function
def main(x: R.Tensor((4, 640), "float32")):
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
