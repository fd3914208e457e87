# RUN: tir-opt %s --split-input-file --mlir-print-local-scope -p 'tir-lower-blocks,tir-lower-gpu-dots{dp4a=true}' | FileCheck %s
# RUN: tir-opt %s --split-input-file --mlir-print-local-scope -p 'tir-lower-blocks,tir-lower-gpu-dots' | FileCheck %s --check-prefix=OFF


# OFF-NOT: nvvm.dot
# CHECK-LABEL: func.func @words
# CHECK: affine.for %[[I:.*]] = 0 to 8 {
# CHECK-NEXT: %[[P:.*]] = affine.apply affine_map<(d0) -> (d0 * 4)>(%[[I]])
# CHECK-NEXT: %[[A:.*]] = vector.load %arg0[%[[P]]] {alignment = 4 : i64} : memref<32xi8>, vector<4xi8>
# CHECK: %[[B:.*]] = vector.load %arg1[%{{.*}}, %{{.*}}] {alignment = 4 : i64} : memref<8x4xi8>, vector<4xi8>
# CHECK: %[[C:.*]] = affine.load %arg2[0] : memref<1xi32>
# CHECK-NEXT: %[[D:.*]] = nvvm.dot.accumulate.4way %[[A]] <signed>, %[[B]] <unsigned>, %[[C]] : vector<4xi8>, vector<4xi8>
# CHECK-NEXT: affine.store %[[D]], %arg2[0] : memref<1xi32>
@T.prim_func
def words(A: T.Buffer((32,), "int8"), B: T.Buffer((8, 4), "uint8"), C: T.Buffer((1,), "int32")):
    for i, k in T.grid(8, 4):
        with T.block("C"):
            vi, vk = T.axis.remap("RR", [i, k])
            C[0] = C[0] + T.Cast("int32", A[vi * 4 + vk]) * T.Cast("int32", B[vi, vk])


# -----


# The bytes of A start at a multiple of two; those of B are apart.
# CHECK-LABEL: func.func @apart
# CHECK-NOT: nvvm.dot
@T.prim_func
def apart(A: T.Buffer((32,), "int8"), B: T.Buffer((4, 8), "int8"), C: T.Buffer((8,), "int32"), D: T.Buffer((8,), "int32")):
    for i, k in T.grid(8, 4):
        with T.block("C"):
            vi, vk = T.axis.remap("SR", [i, k])
            T.where(i < 7)
            C[vi] = C[vi] + T.Cast("int32", A[vi * 4 + vk + 2]) * T.Cast("int32", A[vi * 4 + vk])
    for i, k in T.grid(8, 4):
        with T.block("D"):
            vi, vk = T.axis.remap("SR", [i, k])
            D[vi] = D[vi] + T.Cast("int32", B[vk, vi]) * T.Cast("int32", A[vi * 4 + vk])


# -----


# Another sum, other products, and sums that are kept.
# CHECK-LABEL: func.func @others
# CHECK-NOT: nvvm.dot
@T.prim_func
def others(A: T.Buffer((4,), "int8"), B: T.Buffer((4,), "int8"), C: T.Buffer((4,), "int32"), D: T.Buffer((1,), "int32")):
    for k in range(4):
        with T.block("C"):
            vk = T.axis.spatial(4, k)
            C[vk] = C[vk] + T.Cast("int32", A[vk]) * T.Cast("int32", B[vk])
    for k in range(4):
        with T.block("D"):
            vk = T.axis.reduce(4, k)
            D[0] = D[0] + T.Cast("int32", A[vk]) * C[vk]
