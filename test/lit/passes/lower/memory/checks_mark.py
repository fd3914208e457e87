# RUN: tir-opt %s --split-input-file --mlir-print-local-scope -p tir-lower-checks-mark | FileCheck %s


# An index from memory may have any value.
# CHECK-LABEL: func.func @gather
# CHECK-SAME: tir.checked = true
# CHECK: memref.load %arg0[%{{.*}}] {tir.site = ["C", "A"]}
@T.prim_func
def gather(A: T.Buffer((16,), "float32"), P: T.Buffer((8,), "int32"), C: T.Buffer((8,), "float32")):
    for i in range(8):
        with T.block("C"):
            vi = T.axis.spatial(8, i)
            C[vi] = A[P[vi]]


# -----


# Affine accesses, and those through a table of known contents, are proved.
# CHECK-LABEL: func.func @known
# CHECK-NOT: tir.site = ["
# CHECK: memref.load %arg0[%{{.*}}] {tir.site = []}
# CHECK-NOT: tir.site = ["
@T.prim_func
def known(A: T.Buffer((16,), "float32"), C: T.Buffer((16,), "float32")):
    P = T.alloc_buffer((16,), "int32")
    for i in range(16):
        with T.block("P"):
            vi = T.axis.spatial(16, i)
            P[vi] = 15 - vi
    for i in range(16):
        with T.block("C"):
            vi = T.axis.spatial(16, i)
            C[vi] = A[P[vi]]


# -----


# A value from data that an iter is bound to; where the condition does not hold, nothing is bound.
# CHECK-LABEL: func.func @bound
# CHECK: scf.if %{{.*}} {
# CHECK-NEXT: affine.for %{{.*}} = 0 to 16 {
# CHECK-NOT: scf.if %{{.*}} {tir.where}
# CHECK: } {tir.bind, tir.id = {{.*}}, tir.loop = "vi", tir.site = ["b", "vi"]}
# CHECK-NEXT: } {tir.where}
@T.prim_func
def bound(A: T.Buffer((8,), "float32"), P: T.Buffer((8,), "int32"), C: T.Buffer((16,), "float32")):
    for i in range(8):
        with T.block("b"):
            vi = T.axis.opaque(16, P[i])
            T.where(A[i] > T.float32(0))
            C[vi] = T.float32(1)
