# RUN: tir-opt %s --split-input-file --verify-diagnostics -p 'tir-graph-legalize,tir-graph-fuse-ops,tir-graph-fuse-tir,tir-graph-pack-weights{target=avx2 threads=1}' --emit=script \
# RUN:   | FileCheck %s
# RUN: not tir-opt %s --split-input-file -p 'tir-graph-pack-weights{target=z80}' 2>&1 | FileCheck %s --check-prefix=TARGET
# RUN: not tir-opt %s --split-input-file -p 'tir-graph-pack-weights{threads=two}' 2>&1 | FileCheck %s --check-prefix=THREADS

# TARGET: error: {{.*}}z80
# THREADS: error: {{.*}}option threads=two: expected a number

# The weight in panels is a weight that is computed when weights are bound.
# CHECK-LABEL: def fused_matmul_add_nn_relu(
# CHECK-SAME:    x1: T.Buffer(({{[0-9]+}}, 64, {{[0-9]+}}), "float32")
# CHECK-LABEL: def main(
# CHECK:         w_panels: R.Tensor(({{[0-9]+}}, 64, {{[0-9]+}}), dtype="float32"),
# CHECK:         R.func_attr({"weights": {"b": "b", "w_panels": "w.panels"}})
# CHECK-LABEL: def main_weights(w:
# CHECK:         R.pack_panels(w, along=1, group=1, inner=
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
from tir_mlir.script import tir as T


@T.prim_func
# expected-error @below {{the module has no graph; fix: GraphBuilder, from_torch or @R.function make one}}
def main(A: T.Buffer((4,), "float32")):
    for i in range(4):
        with T.block("A"):
            vi = T.axis.spatial(4, i)
            A[vi] = 0.0
