# RUN: tir-opt %s --split-input-file --mlir-print-local-scope -p 'tir-lower-blocks,tir-lower-conditions' | FileCheck %s


# A guard that holds everywhere goes; one that does not stays, untagged.
# CHECK-LABEL: func.func @guards
@T.prim_func
def guards(A: T.Buffer((64,), "float32"), B: T.Buffer((60,), "float32")):
    # CHECK: affine.for
    # CHECK-NOT: affine.if
    # CHECK: affine.store
    for o, i in T.grid(4, 16):
        with T.block("A"):
            T.where(o * 16 + i < 64)
            vi = T.axis.spatial(64, o * 16 + i)
            A[vi] = T.float32(0)
    # CHECK: affine.for
    # CHECK: affine.if affine_set<
    # CHECK: affine.store
    # CHECK-NEXT: }{{$}}
    for o, i in T.grid(4, 16):
        with T.block("B"):
            T.where(o * 16 + i < 60)
            vi = T.axis.spatial(60, o * 16 + i)
            B[vi] = T.float32(0)


# -----


# A condition that never holds loses its body.
# CHECK-LABEL: func.func @never
# CHECK-NOT: affine.if
# CHECK: affine.store %{{.*}}, %arg0[%{{.*}}]
# CHECK-NOT: affine.store
@T.prim_func
def never(A: T.Buffer((8,), "float32")):
    for i in range(8):
        with T.block("A"):
            vi = T.axis.spatial(8, i)
            A[vi] = T.float32(0)
            if vi >= 8:
                A[0] = T.float32(1)
