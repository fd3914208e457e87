# RUN: tir-opt %s --split-input-file --verify-diagnostics --tir-graph-legalize --emit=script | FileCheck %s

# A program for each operator, one for equal operators on equal types; a reshape stays, as a view.
# CHECK:       @T.prim_func
# CHECK-NEXT:  def nn_relu(x0: T.Buffer((4, 6), "float32"), T_relu: T.Buffer((4, 6), "float32")):
# CHECK:           T_relu[{{.*}}] = T.max(x0[{{.*}}], T.float32(0.0))
# CHECK-NOT:   def nn_relu
# CHECK-LABEL: def main(
# CHECK:         lv: {{.*}} = R.call_tir(cls.nn_relu, (x,)
# CHECK-NEXT:    lv1: {{.*}} = R.call_tir(cls.nn_relu, (lv,)
# CHECK-NEXT:    gv: {{.*}} = R.reshape(lv1, shape=[24])
from tir_mlir.graph import script as R


@R.function
def main(x: R.Tensor((4, 6), "float32")):
    with R.dataflow():
        lv = R.nn.relu(x)
        lv1 = R.nn.relu(lv)
        gv = R.reshape(lv1, (24,))
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
