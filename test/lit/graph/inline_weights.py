# RUN: tir-opt %s --split-input-file --verify-diagnostics --tir-graph-lift-weights --tir-graph-inline-weights --emit=script | FileCheck %s

# The inverse of tir-graph-lift-weights.
# CHECK-LABEL: def main(
# CHECK:         fc_weight: R.Tensor((4, 8), dtype="float32"),
# CHECK:         R.func_attr({"weights": {"fc_weight": "fc.weight"}})
# CHECK:         R.permute_dims(fc_weight)
# CHECK-NEXT:    R.matmul(x, a)
# CHECK-NOT:     main_weights
from tir_mlir.graph import script as R


@R.function
def main(x: R.Tensor((2, 8), "float32"), w: R.Tensor((4, 8), "float32")):
    R.func_attr({"weights": {"w": "fc.weight"}})
    with R.dataflow():
        a = R.permute_dims(w)
        gv = R.matmul(x, a)
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
