# RUN: tir-opt %s --split-input-file --verify-diagnostics --tir-graph-simplify --emit=script | FileCheck %s

# What does nothing is removed, two permutations are one, a reshape moves below a pointwise operator.
# CHECK-LABEL: def main(x: R.Tensor((2, 3, 4), dtype="float32"))
# CHECK-NEXT:    with R.dataflow():
# CHECK-NEXT:      [[A:[a-z_0-9]+]]: R.Tensor((4, 3, 2), dtype="float32") = R.permute_dims(x, axes=[2, 1, 0])
# CHECK-NEXT:      [[B:[a-z_0-9]+]]: R.Tensor((4, 3, 2), dtype="float32") = R.nn.relu([[A]])
# CHECK-NEXT:      [[C:[a-z_0-9]+]]: R.Tensor((1, 4, 3, 2), dtype="float32") = R.reshape([[B]],
# CHECK-NEXT:      R.output([[C]])
from tir_mlir.graph import script as R


@R.function
def main(x: R.Tensor((2, 3, 4), "float32")):
    with R.dataflow():
        a = R.permute_dims(x, axes=[1, 0, 2])
        b = R.permute_dims(a, axes=[2, 0, 1])
        c = R.nn.dropout(b)
        d = R.reshape(c, (1, 4, 3, 2))
        gv = R.nn.relu(d)
        R.output(gv)
    return gv


# -----

# All rows of a batch are one product, unless the matrices differ as well.
# CHECK-LABEL: def main(
# CHECK:         R.reshape(x, shape=[6, 8])
# CHECK-NEXT:    R.matmul({{.*}}, w)
# CHECK-NEXT:    R.reshape({{.*}}, shape=[2, 3, 5])
# CHECK-NEXT:    R.matmul({{.*}}, v)
# CHECK-NEXT:    R.output
from tir_mlir.graph import script as R


@R.function
def main(x: R.Tensor((2, 3, 8), "float32"), w: R.Tensor((8, 5), "float32"), v: R.Tensor((2, 5, 5), "float32")):
    with R.dataflow():
        a = R.matmul(x, w)
        gv = R.matmul(a, v)
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
