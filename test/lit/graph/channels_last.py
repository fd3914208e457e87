# RUN: tir-opt %s --split-input-file --verify-diagnostics --tir-graph-channels-last --emit=script | FileCheck %s

# One permutation before, one after; those in between cancel each other.
# CHECK-LABEL: def main(
# CHECK:         R.permute_dims(x, axes=[0, 2, 3, 1])
# CHECK-NEXT:    R.nn.conv2d({{.*}}, w, data_layout="NHWC"
# CHECK-NEXT:    R.nn.relu(
# CHECK-NEXT:    R.nn.conv2d({{.*}}, v, data_layout="NHWC"
# CHECK-NEXT:    R.permute_dims({{.*}}, axes=[0, 3, 1, 2])
# CHECK-NEXT:    R.output
from tir_mlir.graph import script as R


@R.function
def main(
    x: R.Tensor((1, 3, 8, 8), "float32"), w: R.Tensor((4, 3, 3, 3), "float32"), v: R.Tensor((2, 4, 3, 3), "float32"),
):
    with R.dataflow():
        a = R.nn.conv2d(x, w)
        b = R.nn.relu(a)
        gv = R.nn.conv2d(b, v)
        R.output(gv)
    return gv


# -----

# A pixel shuffle moves parts of axes: it does so in NHWC.
# CHECK-LABEL: def main(
# CHECK:         R.nn.conv2d({{.*}}, w, data_layout="NHWC"
# CHECK-NEXT:    R.reshape({{.*}}, shape=[1, 8, 8, 2, 2, 2])
# CHECK-NEXT:    R.permute_dims({{.*}}, axes=[0, 1, 4, 2, 5, 3])
# CHECK-NEXT:    R.reshape({{.*}}, shape=[1, 16, 16, 2])
# CHECK-NEXT:    R.nn.conv2d({{.*}}, v, data_layout="NHWC"
from tir_mlir.graph import script as R


@R.function
def main(
    x: R.Tensor((1, 3, 8, 8), "float32"), w: R.Tensor((8, 3, 3, 3), "float32"), v: R.Tensor((2, 2, 3, 3), "float32"),
):
    with R.dataflow():
        a = R.nn.conv2d(x, w, padding=1)
        b = R.reshape(a, shape=[1, 2, 2, 2, 8, 8])
        c = R.permute_dims(b, axes=[0, 1, 4, 2, 5, 3])
        d = R.reshape(c, shape=[1, 2, 16, 16])
        gv = R.nn.conv2d(d, v)
        R.output(gv)
    return gv


# -----

# What is in NHWC, and a graph without convolutions, remain as they are.
# CHECK-LABEL: def main(
# CHECK:         R.nn.conv2d(x, w, data_layout="NHWC"
# CHECK-NEXT:    R.output
from tir_mlir.graph import script as R


@R.function
def main(x: R.Tensor((1, 8, 8, 3), "float32"), w: R.Tensor((4, 3, 3, 3), "float32")):
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


# -----

# Convolutions of single pixels are products with the image as it is, but where they are connected with one that reads
# neighbours.
# CHECK-LABEL: def main(
# CHECK:         R.reshape(x, shape=[2, 3, 64])
# CHECK:         R.matmul(
# CHECK-NEXT:    R.nn.relu(
# CHECK-NEXT:    R.reshape({{.*}}, shape=[2, 4, 8, 8])
# CHECK:         R.nn.conv2d({{.*}}data_layout="NHWC"
# CHECK:         R.nn.conv2d({{.*}}data_layout="NHWC"
# CHECK-NOT:     R.matmul
from tir_mlir.graph import script as R


@R.function
def main(
    x: R.Tensor((2, 3, 8, 8), "float32"),
    y: R.Tensor((2, 3, 9, 9), "float32"),
    w: R.Tensor((4, 3, 1, 1), "float32"),
    u: R.Tensor((4, 4, 3, 3), "float32"),
):
    with R.dataflow():
        a = R.nn.conv2d(x, w)
        first = R.nn.relu(a)
        b = R.nn.conv2d(y, w)
        c = R.nn.relu(b)
        d = R.nn.conv2d(c, u)
        R.output(first, d)
    return first, d


# -----

# A pool of one channel stays as it is: its channel last, pixels would not be computed in vectors.
# CHECK-LABEL: def main(
# CHECK:         R.nn.conv2d({{.*}}, w, data_layout="NHWC"
# CHECK:         R.nn.max_pool2d({{.*}}, layout="NCHW"
# CHECK:         R.output
from tir_mlir.graph import script as R


@R.function
def main(x: R.Tensor((1, 3, 8, 8), "float32"), w: R.Tensor((1, 3, 3, 3), "float32")):
    with R.dataflow():
        a = R.nn.conv2d(x, w)
        gv = R.nn.max_pool2d(a, pool_size=(3, 3), strides=(1, 1))
        R.output(gv)
    return gv
