# RUN: tir-opt %s --split-input-file --verify-diagnostics --tir-graph-legalize --tir-graph-fuse-ops --tir-graph-fuse-tir --emit=script | FileCheck %s

# The programs of a group, one after the other, are one; the tensors between them are buffers of it.
# CHECK-LABEL: def fused_matmul_add_nn_relu(
# CHECK:         T_matmul = T.alloc_buffer((4, 32))
# CHECK-NEXT:    T_add = T.alloc_buffer((4, 32))
# CHECK:         with T.block("T_matmul"):
# CHECK:         with T.block("T_add"):
# CHECK:         with T.block("T_relu"):
# CHECK-LABEL: def main(
# CHECK:         gv: {{.*}} = R.call_tir(cls.fused_matmul_add_nn_relu, (x, w, b)
# CHECK-NOT:     def
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
# Constants of a group become parameters of its program.
# CHECK-LABEL: def scaled(
# CHECK-SAME:    x0: T.Buffer((2,), "float32"), x1: T.Buffer((2,), "float32"), T_add: T.Buffer((2,), "float32")
# CHECK-LABEL: def main(
# CHECK:         gv: {{.*}} = R.call_tir(cls.scaled, (x, R.const([1.0, 2.0], "float32"))
from tir_mlir.script import ir as I
from tir_mlir.graph import script as R


@I.ir_module
class Module:
    @R.function(private=True)
    def scaled(x: R.Tensor((2,), "float32")):
        with R.dataflow():
            lv = R.multiply(x, R.const([1.0, 2.0]))
            gv = R.add(lv, x)
            R.output(gv)
        return gv

    @R.function
    def main(x: R.Tensor((2,), "float32")):
        with R.dataflow():
            gv = cls.scaled(x)
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
