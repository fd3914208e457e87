# RUN: tir-opt %s --split-input-file --verify-diagnostics --tir-graph-constants --emit=script | FileCheck %s

# Equal constants are one weight; a number that its readers take as it is stays.
# CHECK-LABEL: def main(
# CHECK-NEXT:    x: R.Tensor((3,), dtype="float32"),
# CHECK-NEXT:    [[C:c_[0-9]]]: R.Tensor((3,), dtype="float32"),
# CHECK:         R.func_attr({"weights": {"[[C]]": "[[C]]"}})
# CHECK:         R.add(x, R.const(2.0, "float32"))
# CHECK-NEXT:    R.multiply(a, [[C]])
# CHECK-NEXT:    R.add(b, [[C]])
from tir_mlir.graph import script as R


@R.function
def main(x: R.Tensor((3,), "float32")):
    with R.dataflow():
        a = R.add(x, R.const(2.0, "float32"))
        b = R.multiply(a, R.const([1.0, 2.0, 3.0], "float32"))
        gv = R.add(b, R.const([1.0, 2.0, 3.0], "float32"))
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
