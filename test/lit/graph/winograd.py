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

# Bytes that are multiplied as words: a batch of 16 products of sums of tiles, one row of which reaches beyond the image.
# CHECK-LABEL: def main(
# CHECK:         [[P:gv.*]]: {{.*}} = R.nn.pad(x, {{.*}}pad_value=5, pad_width=[0, 0, 1, 2, 1, 1, 0, 0]
# CHECK:         [[T:gv.*]]: {{.*}}(4, 4, 1, 6, 8, 32), dtype="int16") = R.nn.winograd_tiles([[P]])
# CHECK:         [[R:gv.*]]: {{.*}} = R.reshape([[T]], shape=[16, 48, 32])
# CHECK:         {{.*}}(1, 4, 4, 32, 32), dtype="int16") = R.nn.winograd_weights(w, width=32)
# CHECK:         R.matmul([[R]], {{.*}}, out_dtype="int32")
# CHECK:         R.nn.winograd_results({{.*}}, size=[11, 16])
from tir_mlir.graph import script as R


@R.function
def main(x: R.Tensor((1, 11, 16, 32), "uint8"), w: R.Tensor((32, 32, 3, 3), "int8")):
    R.func_attr({"weights": {"w": "w"}})
    with R.dataflow():
        gv = R.nn.conv2d(x, w, padding=[1, 1, 1, 1], data_layout="NHWC", out_dtype="int32", pad_value=5)
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
