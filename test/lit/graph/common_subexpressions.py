# RUN: tir-opt %s --split-input-file --verify-diagnostics --tir-graph-common-subexpressions --tir-graph-dead-code --emit=script | FileCheck %s

# Equal nodes are one, also those that are equal only then; other attributes are another node.
# CHECK-LABEL: def main(
# CHECK:         a: {{.*}} = R.nn.softmax(x, axis=0)
# CHECK-NEXT:    c: {{.*}} = R.nn.softmax(x, axis=1)
# CHECK-NEXT:    d: {{.*}} = R.exp(a)
# CHECK-NEXT:    f: {{.*}} = R.add(d, d)
# CHECK-NEXT:    gv: {{.*}} = R.add(f, c)
# CHECK-NEXT:    R.output
from tir_mlir.graph import script as R


@R.function
def main(x: R.Tensor((4, 4), "float32")):
    with R.dataflow():
        a = R.nn.softmax(x, axis=0)
        b = R.nn.softmax(x, axis=0)
        c = R.nn.softmax(x, axis=1)
        d = R.exp(a)
        e = R.exp(b)
        f = R.add(d, e)
        gv = R.add(f, c)
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
