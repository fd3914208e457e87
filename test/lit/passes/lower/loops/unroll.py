# RUN: tir-opt %s --split-input-file --mlir-print-local-scope -p 'tir-lower-blocks,tir-lower-unroll,canonicalize' | FileCheck %s
# RUN: tir-opt %s --split-input-file -p 'tir-lower-blocks,tir-lower-unroll{limit=2}' | FileCheck %s --check-prefix=LIMIT
# RUN: not tir-opt %s --split-input-file -p 'tir-lower-unroll{limt=2}' 2>&1 | FileCheck %s --check-prefix=OPTION
# RUN: not tir-opt %s --split-input-file -p 'tir-lower-unroll{limit=many}' 2>&1 | FileCheck %s --check-prefix=VALUE


# OPTION: error: tir-lower-unroll: unknown option "limt"; it takes limit
# VALUE: error: {{.*}}many
# LIMIT-LABEL: func.func @three
# LIMIT: affine.for
# CHECK-LABEL: func.func @three
# CHECK-NOT: affine.for
# CHECK: affine.store %{{.*}}, %arg0[0]
# CHECK: affine.store %{{.*}}, %arg0[1]
# CHECK: affine.store %{{.*}}, %arg0[2]
@T.prim_func
def three(A: T.Buffer((3,), "float32")):
    for i in T.unroll(3):
        with T.block("A"):
            vi = T.axis.spatial(3, i)
            A[vi] = T.float32(0)


# -----


# An extent that is not known stays a loop.
# CHECK-LABEL: func.func @symbolic
# CHECK: affine.for
# CHECK-NOT: tir.kind
@T.prim_func
def symbolic(a: T.handle):
    n = T.int32()
    A = T.match_buffer(a, (n,), "float32")
    for i in T.unroll(n):
        with T.block("A"):
            vi = T.axis.spatial(n, i)
            A[vi] = T.float32(0)


# -----


# The last of the largest of A, found again for each j: one chain, not written out.
# CHECK-LABEL: func.func @again
# CHECK: affine.for
# CHECK-NEXT: affine.for %{{.*}} = 0 to 24
# CHECK: arith.select
# CHECK-NOT: arith.select
@T.prim_func
def again(A: T.Buffer((24,), "float32"), X: T.Buffer((), "float32"), Y: T.Buffer((8,), "float32")):
    for j in range(8):
        for k in T.unroll(24):
            with T.block("X"):
                vk = T.axis.reduce(24, k)
                with T.init():
                    X[()] = T.min_value("float32")
                X[()] = T.Select(X[()] > A[vk], X[()], A[vk])
        with T.block("Y"):
            vj = T.axis.spatial(8, j)
            Y[vj] = X[()]
