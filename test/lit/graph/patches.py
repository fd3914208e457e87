# RUN: tir-opt %s --split-input-file --verify-diagnostics -p 'tir-graph-patches{target=sapphire_rapids}' --emit=script \
# RUN:   | FileCheck %s
# RUN: tir-opt %s --split-input-file --verify-diagnostics -p 'tir-graph-patches{target=avx2}' --emit=script \
# RUN:   | FileCheck %s --check-prefix=AVX2

# Rows of patches times the weights; borders are the zero point.
# CHECK-LABEL: def main(
# CHECK:         [[R:gv.*]]: {{.*}} = R.nn.patches(x, {{.*}}kernel=[3, 3]{{.*}}pad_value=5
# CHECK:         [[P:gv.*]]: {{.*}} = R.nn.dense([[R]], {{.*}}, out_dtype="int32")
# CHECK:         R.reshape([[P]], shape=[1, 8, 8, 32])
# AVX2-LABEL: def main(
from tir_mlir.graph import script as R


@R.function
def main(x: R.Tensor((1, 8, 8, 16), "uint8"), w: R.Tensor((32, 16, 3, 3), "int8")):
    R.func_attr({"weights": {"w": "w"}})
    with R.dataflow():
        gv = R.nn.conv2d(x, w, padding=[1, 1, 1, 1], data_layout="NHWC", out_dtype="int32", pad_value=5)
        R.output(gv)
    return gv


# -----

# One in groups is a product for each part of them, and stays where there are no tiles.
# CHECK-LABEL: def main(
# CHECK:         [[R:gv.*]]: {{.*}} = R.nn.patches(x, {{.*}}parts=2
# CHECK:         [[P:gv.*]]: {{.*}} = R.matmul([[R]], {{.*}}, out_dtype="int32")
# CHECK:         R.permute_dims([[P]], axes=[1, 0, 2])
# AVX2-LABEL: def main(
# AVX2:         R.nn.conv2d(x, w,
from tir_mlir.graph import script as R


@R.function
def main(x: R.Tensor((1, 8, 8, 64), "uint8"), w: R.Tensor((128, 32, 3, 3), "int8")):
    R.func_attr({"weights": {"w": "w"}})
    with R.dataflow():
        gv = R.nn.conv2d(x, w, groups=2, data_layout="NHWC", out_dtype="int32")
        R.output(gv)
    return gv

# -----

# Few channels are copied with those of the pixels beside them: filled up to 4 for tiles, and rows to 64 terms.
# CHECK-LABEL: def main(
# CHECK:         R.reshape({{.*}}, shape=[1, 22, 11, 8])
# CHECK:         R.nn.patches({{.*}}kernel=[7, 4]{{.*}}multiple=64
# AVX2-LABEL: def main(
# AVX2:         R.reshape({{.*}}, shape=[1, 22, 11, 6])
# AVX2:         R.nn.patches({{.*}}kernel=[7, 4]{{.*}}multiple=1
from tir_mlir.graph import script as R


@R.function
def main(x: R.Tensor((1, 16, 16, 3), "uint8"), w: R.Tensor((32, 3, 7, 7), "int8")):
    R.func_attr({"weights": {"w": "w"}})
    with R.dataflow():
        gv = R.nn.conv2d(x, w, strides=[2, 2], padding=[3, 3, 3, 3], data_layout="NHWC", out_dtype="int32")
        R.output(gv)
    return gv

# -----

# A depthwise one has rows of weights in groups of 4, filled with zeros, and as many rows of the image more.
# CHECK-LABEL: def main(
# CHECK:         R.nn.conv2d(x, {{.*}}kernel_layout="HWOI4h"{{.*}}padding=[1, 1, 2, 1]
# AVX2-LABEL: def main(
# AVX2:         R.nn.conv2d(x, w,{{.*}}kernel_layout="HWOI"
from tir_mlir.graph import script as R


@R.function
def main(x: R.Tensor((1, 8, 8, 32), "uint8"), w: R.Tensor((3, 3, 32, 1), "int8")):
    R.func_attr({"weights": {"w": "w"}})
    with R.dataflow():
        gv = R.nn.conv2d(
            x, w, padding=[1, 1, 1, 1], groups=32, data_layout="NHWC", kernel_layout="HWOI", out_dtype="int32"
        )
        R.output(gv)
    return gv

# -----

# Floats become rows of patches where the target multiplies them.
# CHECK:         R.nn.patches(x, {{.*}}multiple=1
# CHECK:         R.nn.dense({{.*}}, out_dtype="bfloat16")
# AVX2:          "bfloat16") = R.nn.conv2d(x, w
from tir_mlir.graph import script as R


@R.function
def main(x: R.Tensor((1, 8, 8, 16), "bfloat16"), w: R.Tensor((32, 16, 2, 2), "bfloat16")):
    R.func_attr({"weights": {"w": "w"}})
    with R.dataflow():
        gv = R.nn.conv2d(x, w, data_layout="NHWC")
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
