# RUN: tir-opt %s --split-input-file --verify-diagnostics -p 'tir-graph-legalize,tir-graph-lower-main' | FileCheck %s
# RUN: not tir-opt %s --split-input-file -p tir-graph-lower-main 2>&1 | FileCheck %s --check-prefix=EARLY

# EARLY: error: {{.*}} is not a call of a TensorIR function; fix: legalize(graph) makes one of each operator

# Inputs, outputs, weights, the arena: 64 bytes for the sum, which the second call reads; nothing returns.
# CHECK-LABEL: func.func @main(
# CHECK-SAME:    %arg0: memref<4xf32> {tir.name = "x"}, %arg1: memref<4xf32> {tir.name = "out"},
# CHECK-SAME:    %arg2: memref<64xi8> {tir.name = "weights"}, %arg3: memref<64xi8> {tir.name = "arena"})
# CHECK-DAG:     %[[W:.*]] = memref.view %arg2[%{{.*}}][] {{.*}}: memref<64xi8> to memref<4xf32>
# CHECK-DAG:     %[[A:.*]] = memref.view %arg3[%{{.*}}][] {{.*}}: memref<64xi8> to memref<4xf32>
# CHECK:         call @tir.add{{.*}}(%arg0, %[[W]], %[[A]])
# CHECK-NEXT:    call @tir.exp(%[[A]], %arg1)
# CHECK-NEXT:    return
from tir_mlir.graph import script as R


@R.function
def main(x: R.Tensor((4,), "float32"), b: R.Tensor((4,), "float32")):
    R.func_attr({"weights": {"b": "b"}})
    with R.dataflow():
        lv = R.add(x, b)
        gv = R.exp(lv)
        R.output(gv)
    return gv

# -----
# A reshape between two shapes of named sizes, which have one type in MLIR, is a view of the right sizes.
# CHECK-LABEL: func.func @main(
# CHECK:         %[[N:.*]] = memref.dim {tir.name = "n"} %arg0
# CHECK:         %[[M:.*]] = memref.dim {tir.name = "m"} %arg0
# CHECK:         %[[FLAT:.*]] = memref.collapse_shape %arg0
# CHECK:         %[[VIEW:.*]] = memref.reinterpret_cast %[[FLAT]] to offset: [0], sizes: [%[[M]], %[[N]]], strides: [%{{.*}}, 1] : memref<?xf32> to memref<?x?xf32>
# CHECK:         call @tir.exp(%[[VIEW]], %arg1)
from tir_mlir.graph import script as R


@R.function
def main(x: R.Tensor(("n", "m"), "float32")):
    n = T.int64()
    m = T.int64()
    with R.dataflow():
        lv = R.reshape(x, (m, n))
        gv = R.exp(lv)
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
