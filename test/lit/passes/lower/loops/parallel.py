# RUN: tir-opt %s --mlir-print-local-scope -p 'tir-lower-blocks,tir-lower-parallel-races,tir-lower-parallel' | FileCheck %s


# CHECK: affine.parallel (%[[I:.*]]) = (0) to (8) {
# CHECK-NEXT: affine.for %[[J:.*]] = 0 to 4 {
# CHECK: affine.store %{{.*}}, %{{.*}}[%[[I]], %[[J]]]
# CHECK-NOT: tir.kind
@T.prim_func
def main(A: T.Buffer((8, 4), "float32")):
    for i in T.parallel(8):
        for j in range(4):
            with T.block("A"):
                vi, vj = T.axis.remap("SS", [i, j])
                A[vi, vj] = T.float32(0)
