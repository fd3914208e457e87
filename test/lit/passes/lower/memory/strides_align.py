# RUN: tir-opt %s -p 'tir-lower-strides-align,tir-lower-blocks' --mlir-print-local-scope | FileCheck %s
# RUN: tir-opt %s -p 'tir-storage-align{block=Y buffer_index=0 axis=0 factor=16 offset=3},tir-lower-strides-align' --mlir-print-local-scope | FileCheck %s --check-prefix=AGAIN


# The wish of the block goes to the buffer.
# CHECK-LABEL: func.func @main(
# CHECK: memref.alloc() {alignment = 64 : i64, tir.dim_align = {{\[\[}}0, 32, 8]], tir.name = "Y"} : memref<16x10xf32>
# CHECK-NOT: buffer_dim_align
# AGAIN: tir.dim_align = {{\[\[}}0, 16, 3]]
@T.prim_func
def main(A: T.Buffer((16, 10), "float32"), B: T.Buffer((16, 10), "float32")):
    Y = T.alloc_buffer((16, 10), "float32")
    for i, j in T.grid(16, 10):
        with T.block("Y"):
            vi, vj = T.axis.remap("SS", [i, j])
            T.block_attr({"buffer_dim_align": [[0, 0, 32, 8]]})
            Y[vi, vj] = A[vi, vj]
    for i, j in T.grid(16, 10):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = Y[15 - vi, vj]
