# RUN: tir-opt %s --emit=script -p 'tir-storage-align{block=Y buffer_index=0 axis=-2 factor=32 offset=8},tir-storage-align{block=Y buffer_index=0 axis=1 factor=4 offset=0},tir-storage-align{block=Y buffer_index=0 axis=0 factor=16 offset=3}' | FileCheck %s
# RUN: not tir-opt %s -p 'tir-storage-align{block=B buffer_index=0 axis=0 factor=32 offset=8}' 2>&1 | FileCheck %s --check-prefix=PARAM
# RUN: not tir-opt %s -p 'tir-storage-align{block=Y buffer_index=0 axis=2 factor=32 offset=8}' 2>&1 | FileCheck %s --check-prefix=AXIS
# RUN: not tir-opt %s -p 'tir-storage-align{block=Y buffer_index=0 axis=0 factor=0 offset=8}' 2>&1 | FileCheck %s --check-prefix=FACTOR
# RUN: not tir-opt %s -p 'tir-storage-align{block=Y buffer_index=1 axis=0 factor=4 offset=0}' 2>&1 | FileCheck %s --check-prefix=INDEX
# RUN: tir-opt %S/../Inputs/storage_align_refused.py --split-input-file --verify-diagnostics -p 'tir-storage-align{block=Y buffer_index=0 axis=0 factor=4 offset=1}'


# PARAM: B is a parameter of the function, whose strides the caller chooses
# AXIS: axis 2 of Y is not in [-2, 2)
# FACTOR: the factor 0 is not positive
# INDEX: block "Y" has no buffer number 1 among those it writes
# A second wish for an axis replaces the first; axes count from the front.
# CHECK: with T.block("Y"):
# CHECK: T.block_attr({"buffer_dim_align": {{\[\[}}0, 0, 16, 3], [0, 1, 4, 0]]})
@T.prim_func
def main(A: T.Buffer((16, 10), "float32"), B: T.Buffer((16, 10), "float32")):
    Y = T.alloc_buffer((16, 10), "float32")
    for i, j in T.grid(16, 10):
        with T.block("Y"):
            vi, vj = T.axis.remap("SS", [i, j])
            Y[vi, vj] = A[vi, vj]
    for i, j in T.grid(16, 10):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = Y[vi, vj]
