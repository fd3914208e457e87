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
from tir_mlir.script import tir as T


@T.prim_func
# expected-error @below {{the module has no graph; fix: GraphBuilder, from_torch or @R.function make one}}
def main(A: T.Buffer((4,), "float32")):
    for i in range(4):
        with T.block("A"):
            vi = T.axis.spatial(4, i)
            A[vi] = 0.0
