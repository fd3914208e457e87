# RUN: tir-opt %s --split-input-file --verify-diagnostics -p 'tir-graph-winograd{target=avx2 threads=1}' --emit=script \
# RUN:   | FileCheck %s

# Weights in panels of two vectors of results.
# CHECK-LABEL: def main(
# CHECK:         [[W:gv.*]]: {{.*}}(2, 4, 4, 32, 16){{.*}} = R.nn.winograd_weights(w, width=16)
# CHECK:         R.nn.conv2d_winograd(x, [[W]], padding=[1, 1, 1, 1])
from tir_mlir.graph import script as R


@R.function
def main(x: R.Tensor((1, 16, 18, 32), "float32"), w: R.Tensor((32, 32, 3, 3), "float32")):
    R.func_attr({"weights": {"w": "w"}})
    with R.dataflow():
        gv = R.nn.conv2d(x, w, padding=[1, 1, 1, 1], data_layout="NHWC")
        R.output(gv)
    return gv


# -----

# An odd number of rows.
# CHECK-LABEL: def main(
# CHECK:         R.nn.conv2d(x, w
from tir_mlir.graph import script as R


@R.function
def main(x: R.Tensor((1, 15, 18, 32), "float32"), w: R.Tensor((32, 32, 3, 3), "float32")):
    R.func_attr({"weights": {"w": "w"}})
    with R.dataflow():
        gv = R.nn.conv2d(x, w, padding=[1, 1, 1, 1], data_layout="NHWC")
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
