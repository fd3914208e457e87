# RUN: tir-opt %s --split-input-file --verify-diagnostics --tir-graph-scale-sums --emit=script | FileCheck %s

# Integers that are added become part of the offset; a dequantized tensor is added by the operator.
# CHECK-LABEL: def main(
# CHECK:         [[O:gv.*]]: {{.*}} = R.subtract(o, b)
# CHECK-NEXT:    R.requantize(x, s, [[O]], c, y, R.const(0.5, "float32"), R.const(3, "uint8"),
# CHECK-SAME:      given="offset bias addend addend_scale addend_zero", out_dtype="uint8", relu=True)
# CHECK-NEXT:    R.output
from tir_mlir.graph import script as R


@R.function
def main(
    x: R.Tensor((4, 16), "int32"),
    y: R.Tensor((4, 16), "uint8"),
    o: R.Tensor((16,), "int32"),
    b: R.Tensor((16,), "int32"),
    s: R.Tensor((16,), "float32"),
    c: R.Tensor((16,), "float32"),
):
    R.func_attr({"weights": {"o": "o", "b": "b", "s": "s", "c": "c"}})
    with R.dataflow():
        lv = R.astype(R.add(R.subtract(x, o), b), "float32")
        lv1 = R.add(R.multiply(lv, s), c)
        lv2 = R.add(lv1, R.dequantize(y, R.const(0.5, "float32"), R.const(3, "uint8")))
        gv = R.round_to(R.nn.relu(lv2), out_dtype="uint8")
        R.output(gv)
    return gv


# -----

# A step that others read, too, remains; what follows is of floats.
# CHECK-LABEL: def main(
# CHECK:         [[F:lv.*]]: {{.*}} = R.requantize(x, s, given="", out_dtype="float32", relu=False)
# CHECK-NEXT:    [[R:gv.*]]: {{.*}} = R.round_to([[F]], out_dtype="int8")
from tir_mlir.graph import script as R


@R.function
def main(x: R.Tensor((4, 16), "int32"), s: R.Tensor((16,), "float32")):
    R.func_attr({"weights": {"s": "s"}})
    with R.dataflow():
        lv = R.multiply(R.astype(x, "float32"), s)
        gv = R.round_to(lv, out_dtype="int8")
        gv1 = R.exp(lv)
        R.output(gv, gv1)
    return gv, gv1


# -----
from tir_mlir.script import tir as T


@T.prim_func
# expected-error @below {{the module has no graph; fix: GraphBuilder, from_torch or @R.function make one}}
def main(A: T.Buffer((4,), "float32")):
    for i in range(4):
        with T.block("A"):
            vi = T.axis.spatial(4, i)
            A[vi] = 0.0
