# RUN: tir-opt %s --split-input-file --mlir-print-local-scope -p 'tir-lower-checks-mark,tir-lower-blocks,tir-lower-checks' | FileCheck %s



# A load outside gives 0, and the first one is recorded.
# CHECK-LABEL: func.func @gather
# CHECK: %[[P:.*]] = arith.index_cast %{{.*}} : i32 to index
# CHECK: %[[IN:.*]] = arith.cmpi ult, %[[P]], %c16
# CHECK: scf.if %{{.*}} -> (f32) {
# CHECK-NEXT: %[[A:.*]] = memref.load %arg0[%[[P]]] : memref<16xf32>
# CHECK-NEXT: scf.yield %[[A]]
# CHECK-NEXT: } else {
# CHECK: func.call @__tir_outside_1(%c1_i64, %{{.*}}, %{{.*}})
# CHECK: scf.yield %cst
# CHECK: llvm.mlir.global external @__tir_outside(dense<0> : tensor<3xi64>)
# CHECK: func.func private @__tir_outside_1(%arg0: i64, %arg1: i64, %arg2: i64)
# CHECK: llvm.cmpxchg
@T.prim_func
def gather(A: T.Buffer((16,), "float32"), P: T.Buffer((8,), "int32"), C: T.Buffer((8,), "float32")):
    for i in range(8):
        with T.block("C"):
            vi = T.axis.spatial(8, i)
            C[vi] = A[P[vi]]


# -----


# What is proved is not checked.
# CHECK-LABEL: func.func @affine
# CHECK-NOT: scf.if
# CHECK-NOT: __tir_outside
@T.prim_func
def affine(A: T.Buffer((16,), "float32"), C: T.Buffer((8,), "float32")):
    for i in range(8):
        with T.block("C"):
            vi = T.axis.spatial(8, i)
            C[vi] = A[vi * 2 + 1]


# -----


# A store outside is skipped.
# CHECK-LABEL: func.func @scatter
# CHECK: scf.if %{{.*}} {
# CHECK-NEXT: memref.store %{{.*}}, %arg1[%{{.*}}] : memref<?xf32>
# CHECK-NEXT: } else {
@T.prim_func
def scatter(P: T.Buffer((8,), "int32"), c: T.handle):
    n = T.int32()
    C = T.match_buffer(c, (n,), "float32")
    for i in range(8):
        with T.block("C"):
            vi = T.axis.opaque(8, i)
            T.reads(P[vi])
            T.writes(C[0:n])
            C[P[vi]] = 1.0


# -----


# A value that is bound to an iter is recorded if the iter's domain does not have it.
# CHECK-LABEL: func.func @bound
# CHECK: %[[P:.*]] = arith.index_cast %{{.*}} : i32 to index
# CHECK: %[[LOW:.*]] = arith.cmpi sle, %{{.*}}, %[[P]] : index
# CHECK: %[[HIGH:.*]] = arith.cmpi slt, %[[P]], %{{.*}} : index
# CHECK: %[[IN:.*]] = arith.andi %[[LOW]], %[[HIGH]] : i1
# CHECK: scf.if %[[IN]] {
# CHECK-NEXT: } else {
# CHECK: func.call @__tir_outside_2(%c1_i64, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}})
# CHECK: affine.for %{{.*}} = 0 to 16 {
# CHECK-NOT: tir.site
@T.prim_func
def bound(P: T.Buffer((8,), "int32"), C: T.Buffer((16,), "float32")):
    for i in range(8):
        with T.block("b"):
            vi = T.axis.opaque(16, P[i])
            C[vi] = T.float32(1)
