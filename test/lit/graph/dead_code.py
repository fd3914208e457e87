# RUN: tir-opt %s --split-input-file --verify-diagnostics --tir-graph-dead-code --emit=script | FileCheck %s

# What the result does not need is gone; a call of a registered function stays, it may have effects.
# CHECK-LABEL: def main(
# CHECK:         with R.dataflow():
# CHECK-NEXT:      {{.*}} = R.call_dps_packed("log", (x,)
# CHECK-NEXT:      gv: {{.*}} = R.nn.relu(x)
# CHECK-NEXT:      R.output(gv)
from tir_mlir.graph import script as R


@R.function
def main(x: R.Tensor((4,), "float32")):
    with R.dataflow():
        a = R.exp(x)
        b = R.add(a, x)
        c = R.call_dps_packed("log", (x,), out_sinfo=R.Tensor((4,), "float32"))
        gv = R.nn.relu(x)
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
