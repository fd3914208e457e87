# RUN: tir-opt %s -p 'tir-graph-inline-calls,tir-graph-simplify,tir-graph-fold-batch-norm,\
# RUN:   tir-graph-channels-last,tir-graph-constants,tir-graph-lift-weights,\
# RUN:   tir-graph-legalize,tir-graph-fuse-ops,tir-graph-fuse-tir,\
# RUN:   tir-graph-pack-weights{target=avx2 threads=1},tir-graph-schedule{target=avx2 threads=1},tir-graph-in-place' -o %t.mlir
# RUN: tir-opt %s -p 'tir-graph-compile{target=avx2 threads=1}' | diff %t.mlir -
# RUN: tir-opt %s --split-input-file --verify-diagnostics -p 'tir-graph-compile{target=avx2 threads=1}' | FileCheck %s
# RUN: tir-opt %s -p 'tir-graph-compile{target=avx2 threads=1}' --print-ir-after-all -o %t 2>&1 | FileCheck %s --check-prefix=DUMP

# DUMP: // -----// IR Dump After tir-graph-compile{target=avx2 threads=1} //----- //

# All stages of a build: one function, scheduled, of which the weights are prepared apart.
# CHECK-LABEL: func.func @main(
# CHECK-NEXT:    %[[V:.*]] = call @fused_matmul_add_nn_relu.call{{.*}}(%arg0
# CHECK-NEXT:    return %[[V]]
# CHECK:       func.func @fused_matmul_add_nn_relu(
# CHECK-SAME:    graph.schedule = "schedules.auto ({{.*}}gemm
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
