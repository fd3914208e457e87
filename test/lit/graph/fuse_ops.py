# RUN: tir-opt %s --split-input-file --verify-diagnostics --tir-graph-legalize --tir-graph-fuse-ops --emit=script | FileCheck %s

# The product with what follows it is a group.
# CHECK-LABEL: def main(
# CHECK:         gv: {{.*}} = cls.fused_matmul_add_nn_relu(x, w, b)
# CHECK-LABEL: def fused_matmul_add_nn_relu(
# CHECK:         R.func_attr({"Primitive": True})
# CHECK:         R.call_tir(cls.matmul, (x0, x1)
# CHECK-NEXT:    R.call_tir(cls.{{add.*}}, (lv, x2)
# CHECK-NEXT:    R.call_tir(cls.nn_relu, (lv1,)
from tir_mlir.graph import script as R


@R.function
def main(x: R.Tensor((4, 64), "float32"), w: R.Tensor((64, 32), "float32"), b: R.Tensor((32,), "float32")):
    R.func_attr({"weights": {"w": "w", "b": "b"}})
    with R.dataflow():
        lv = R.matmul(x, w)
        lv1 = R.add(lv, b)
        gv = R.nn.relu(lv1)
        R.output(gv)
    return gv


# -----

# Two products stay two functions.
# CHECK-LABEL: def main(
# CHECK:         R.call_tir(cls.{{matmul.*}}, (x, w)
# CHECK-NEXT:    R.call_tir(cls.{{matmul.*}}, (lv, v)
from tir_mlir.graph import script as R


@R.function
def main(x: R.Tensor((4, 8), "float32"), w: R.Tensor((8, 8), "float32"), v: R.Tensor((8, 8), "float32")):
    with R.dataflow():
        lv = R.matmul(x, w)
        gv = R.matmul(lv, v)
        R.output(gv)
    return gv

# -----

# Attention takes what computes its keys from fewer bytes; values that are returned, too, stay alone.
# CHECK-LABEL: def main(
# CHECK:         [[v:lv[0-9]*]]: {{.*}} = cls.fused_{{.*}}(v, vs)
# CHECK-NEXT:    cls.fused_astype_multiply_nn_attention(k, ks, q, [[v]])
from tir_mlir.graph import script as R


@R.function
def main(
    q: R.Tensor((1, 7, 2, 16), "float32"),
    k: R.Tensor((1, "n", 2, 16), "int8"),
    ks: R.Tensor((1, "n", 2, 1), "float32"),
    v: R.Tensor((1, "n", 2, 16), "int8"),
    vs: R.Tensor((1, "n", 2, 1), "float32"),
):
    with R.dataflow():
        lv = R.astype(k, dtype="float32")
        lv1 = R.multiply(lv, ks)
        lv2 = R.astype(v, dtype="float32")
        lv3 = R.multiply(lv2, vs)
        gv = R.nn.attention(q, lv1, lv3)
        R.output(gv, lv3)
    return gv, lv3

# -----
from tir_mlir.script import tir as T


@T.prim_func
# expected-error @below {{the module has no graph; fix: GraphBuilder, from_torch or @R.function make one}}
def main(A: T.Buffer((4,), "float32")):
    for i in range(4):
        with T.block("A"):
            vi = T.axis.spatial(4, i)
            A[vi] = 0.0
