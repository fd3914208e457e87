# RUN: tir-opt %s --split-input-file --verify-diagnostics --tir-graph-fold-batch-norm --emit=script | FileCheck %s

# The weights are scaled, the mean goes into a bias.
# CHECK-LABEL: def main(
# CHECK:         [[ROOT:gv.*]]: {{.*}} = R.rsqrt(
# CHECK-NEXT:    [[SCALE:gv.*]]: {{.*}} = R.multiply([[ROOT]], gamma)
# CHECK:         [[SHIFT:gv.*]]: {{.*}} = R.add({{.*}}, beta)
# CHECK:         [[W:gv.*]]: {{.*}} = R.multiply(w,
# CHECK-NEXT:    {{.*}} = R.nn.conv2d(x, [[W]],
# CHECK-NEXT:    {{.*}} = R.reshape([[SHIFT]],
# CHECK-NEXT:    {{.*}} = R.add(
# CHECK-NEXT:    R.output
from tir_mlir.graph import script as R


@R.function
def main(
    x: R.Tensor((1, 3, 8, 8), "float32"), w: R.Tensor((4, 3, 3, 3), "float32"), gamma: R.Tensor((4,), "float32"),
    beta: R.Tensor((4,), "float32"), mean: R.Tensor((4,), "float32"), var: R.Tensor((4,), "float32"),
):
    R.func_attr({"weights": {"w": "w", "gamma": "gamma", "beta": "beta", "mean": "mean", "var": "var"}})
    with R.dataflow():
        a = R.nn.conv2d(x, w)
        gv = R.nn.batch_norm(a, gamma, beta, mean, var)
        R.output(gv)
    return gv


# -----

# One whose statistics are inputs stays.
# CHECK-LABEL: def main(
# CHECK:         R.nn.conv2d(x, w,
# CHECK-NEXT:    R.nn.batch_norm(
from tir_mlir.graph import script as R


@R.function
def main(
    x: R.Tensor((1, 3, 8, 8), "float32"), w: R.Tensor((4, 3, 3, 3), "float32"), gamma: R.Tensor((4,), "float32"),
    beta: R.Tensor((4,), "float32"), mean: R.Tensor((4,), "float32"), var: R.Tensor((4,), "float32"),
):
    R.func_attr({"weights": {"w": "w"}})
    with R.dataflow():
        a = R.nn.conv2d(x, w)
        gv = R.nn.batch_norm(a, gamma, beta, mean, var)
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
