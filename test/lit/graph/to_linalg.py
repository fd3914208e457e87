# RUN: not tir-opt %s --split-input-file --tir-graph-to-linalg 2> %t.err | FileCheck %s
# RUN: FileCheck %s --check-prefix=SIZE < %t.err

# SIZE: error: node lv: zeros has no form on tensors: the size n is that of no operand; fix: sizes that are numbers

# Named ops, a body for each operator; a function for equal operators on equal types.
# CHECK-LABEL: func.func @main(
# CHECK:         call @nn.dense(%arg0, %arg1)
# CHECK:         call @nn.bias_add(
# CHECK-LABEL: func.func private @nn.dense(%arg0: tensor<?x6xf32>, %arg1: tensor<5x6xf32>) -> tensor<?x5xf32>
# CHECK-SAME:    graph.op = "nn.dense"
# CHECK:         %[[N:.*]] = tensor.dim %arg0
# CHECK:         %[[E:.*]] = tensor.empty(%[[N]]) : tensor<?x5xf32>
# CHECK-NEXT:    %[[F:.*]] = linalg.fill ins({{.*}} : f32) outs(%[[E]]
# CHECK-NEXT:    %[[M:.*]] = linalg.matmul {{.*}} ins(%arg0, %arg1 : {{.*}}) outs(%[[F]]
# CHECK-NEXT:    return %[[M]]
# CHECK-LABEL: func.func private @nn.bias_add(
# CHECK:         linalg.generic {{.*}} iterator_types = ["parallel", "parallel"]} ins(%arg0, %arg1
# CHECK:           arith.addf
from tir_mlir.graph import script as R


@R.function
def main(x: R.Tensor(("n", 6), "float32"), w: R.Tensor((5, 6), "float32"), b: R.Tensor((5,), "float32")):
    with R.dataflow():
        lv = R.nn.dense(x, w)
        gv = R.nn.bias_add(lv, b)
        R.output(gv)
    return gv


# -----

# What a condition guards, or data place, is read in the body; a scatter is called on buffers.
# CHECK-LABEL: func.func private @nn.pad(
# CHECK:         linalg.generic
# CHECK:           linalg.index 0
# CHECK:           scf.if
# CHECK:             tensor.extract %arg0
# CHECK-LABEL: func.func private @take(
# CHECK:         linalg.generic
# CHECK:           tensor.extract %arg0
# CHECK-LABEL: func.func private @scatter_elements(
# CHECK:         bufferization.to_buffer %arg0
# CHECK:         call @scatter_elements_1(
# CHECK:         bufferization.to_tensor
from tir_mlir.graph import script as R


@R.function
def main(x: R.Tensor((4,), "float32"), i: R.Tensor((6,), "int64")):
    with R.dataflow():
        lv = R.nn.pad(x, pad_width=[1, 1])
        lv1 = R.take(lv, i, axis=0)
        gv = R.scatter_elements(lv1, i, lv)
        R.output(gv)
    return gv


# -----
from tir_mlir.graph import script as R


@R.function
def main(x: R.Tensor(("n",), "float32")):
    n = T.int64()  # noqa: F821
    with R.dataflow():
        lv = R.zeros(shape=(n,))
        gv = R.add(lv, x)
        R.output(gv)
    return gv
