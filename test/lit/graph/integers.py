# RUN: tir-opt %s --split-input-file --verify-diagnostics --tir-graph-integers --emit=script | FileCheck %s

# Products of integers; the scales of both operands and of the result are one number.
# CHECK-LABEL: def main(
# CHECK:         [[P:lv.*]]: R.Tensor((4, 16), dtype="int32") = R.nn.dense(x, w, out_dtype="int32")
# CHECK:         [[S:lv.*]]: {{.*}} = R.sum({{.*}}, axis=[1]
# CHECK-NEXT:    [[Z:lv.*]]: {{.*}} = R.multiply([[S]], R.const(3, "int32"))
# CHECK-NEXT:    {{.*}} = R.subtract([[P]], [[Z]])
# CHECK:         [[I:gv.*]]: {{.*}} = R.reciprocal(R.const(0.125, "float32"))
# CHECK-NEXT:    [[B:gv.*]]: {{.*}} = R.multiply(b, [[I]])
# CHECK-NEXT:    [[A:gv.*]]: {{.*}} = R.add({{.*}}, [[B]])
# CHECK-NEXT:    [[M:gv.*]]: {{.*}} = R.nn.relu([[A]])
# CHECK-NEXT:    {{.*}} = R.round_to([[M]], zero_point=R.const(7, "uint8"), out_dtype="uint8")
# CHECK-NEXT:    R.output
from tir_mlir.graph import script as R


@R.function
def main(x: R.Tensor((4, 64), "uint8"), w: R.Tensor((16, 64), "int8"), b: R.Tensor((16,), "float32")):
    R.func_attr({"weights": {"w": "w", "b": "b"}})
    with R.dataflow():
        lv = R.dequantize(x, R.const(0.5, "float32"), R.const(3, "uint8"))
        lv1 = R.dequantize(w, R.const(0.25, "float32"), R.const(0, "int8"))
        lv2 = R.nn.dense(lv, lv1)
        lv3 = R.add(lv2, b)
        lv4 = R.nn.relu(lv3)
        gv = R.quantize(lv4, R.const(0.125, "float32"), R.const(7, "uint8"), out_dtype="uint8")
        R.output(gv)
    return gv


# -----

# A weight with a zero point stays.
# CHECK-LABEL: def main(
# CHECK:         [[X:lv.*]]: {{.*}} = R.dequantize(x,
# CHECK-NEXT:    [[W:lv.*]]: {{.*}} = R.dequantize(w,
# CHECK-NEXT:    {{.*}} = R.nn.dense([[X]], [[W]])
from tir_mlir.graph import script as R


@R.function
def main(x: R.Tensor((4, 64), "uint8"), w: R.Tensor((16, 64), "int8")):
    R.func_attr({"weights": {"w": "w"}})
    with R.dataflow():
        lv = R.dequantize(x, R.const(0.5, "float32"), R.const(3, "uint8"))
        lv1 = R.dequantize(w, R.const(0.25, "float32"), R.const(2, "int8"))
        gv = R.nn.dense(lv, lv1)
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
