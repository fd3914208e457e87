# RUN: tir-opt %s -p 'tir-lower-blocks,tir-lower-bools' | FileCheck %s


# CHECK: func.func @main(%[[M:.*]]: memref<8xi8> {{.*}}, %[[N:.*]]: memref<8xi8>
# CHECK: %[[X:.*]] = affine.load %[[M]][%{{.*}}] : memref<8xi8>
# CHECK: arith.trunci %[[X]] : i8 to i1
# CHECK: %[[Y:.*]] = arith.extui %{{.*}} : i1 to i8
# CHECK: affine.store %[[Y]], %[[N]][%{{.*}}] : memref<8xi8>
@T.prim_func
def main(M: T.Buffer((8,), "bool"), N: T.Buffer((8,), "bool")):
    for i in range(8):
        with T.block("N"):
            vi = T.axis.spatial(8, i)
            N[vi] = not M[vi]
