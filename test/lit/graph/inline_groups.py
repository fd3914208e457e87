# RUN: tir-opt %s --split-input-file --verify-diagnostics --tir-graph-legalize --tir-graph-fuse-ops --tir-graph-inline-groups --emit=script | FileCheck %s

# The inverse of tir-graph-fuse-ops.
# CHECK-LABEL: def main(
# CHECK:         R.call_tir(cls.matmul, (x, w)
# CHECK-NEXT:    R.call_tir(cls.{{add.*}}, (lv, b)
# CHECK-NEXT:    R.call_tir(cls.nn_relu, (lv1,)
# CHECK-NOT:     fused
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

# A group that another group calls, too, in the sizes of the caller.
# CHECK-LABEL: def main(
# CHECK:         a_1{{.*}} = R.call_tir(cls.exp, (x,)
# CHECK-NEXT:    a: {{.*}} = R.reshape(a_1, shape=[k * 2])
# CHECK-NEXT:    b{{.*}} = R.reshape(x, shape=[k * 2])
# CHECK-NEXT:    gv{{.*}} = R.call_tir(cls.add, (a, b)
# CHECK-NOT:     cls.inner
from tir_mlir.script import ir as I
from tir_mlir.graph import script as R
from tir_mlir.script import tir as T


@I.ir_module
class Module:
    @R.function(private=True)
    def inner(x: R.Tensor(("n", 2), "float32")):
        n = T.int64()
        with R.dataflow():
            y = R.reshape(x, (n * 2,))
            R.output(y)
        return y

    @R.function(private=True)
    def outer(x: R.Tensor(("n", 2), "float32")):
        with R.dataflow():
            a = R.exp(x)
            b = cls.inner(a)
            R.output(b)
        return b

    @R.function
    def main(x: R.Tensor(("k", 2), "float32")):
        with R.dataflow():
            a = cls.outer(x)
            b = cls.inner(x)
            gv = R.add(a, b)
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
