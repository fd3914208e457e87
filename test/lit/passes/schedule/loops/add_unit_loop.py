# RUN: tir-opt %s --emit=script -p 'tir-add-unit-loop{block_or_loop=B},tir-add-unit-loop{block_or_loop=C:i}' | FileCheck %s
# RUN: not tir-opt %s -p 'tir-add-unit-loop{block_or_loop=root}' 2>&1 | FileCheck %s --check-prefix=ROOT


# A guard remains with its block.
# ROOT: the root block is the whole function; a loop goes around a block or loop inside it
# CHECK: for i, u in T.grid(8, 1):
# CHECK-NEXT: with T.block("B"):
# CHECK: T.where(i < 5)
# CHECK: for u, i in T.grid(1, 8):
# CHECK-NEXT: with T.block("C"):
@T.prim_func
def main(B: T.Buffer((5,), "float32"), C: T.Buffer((8,), "float32")):
    for i in range(8):
        with T.block("B"):
            T.where(i < 5)
            vi = T.axis.spatial(5, i)
            B[vi] = T.float32(0)
    for i in range(8):
        with T.block("C"):
            vi = T.axis.spatial(8, i)
            C[vi] = T.float32(0)
