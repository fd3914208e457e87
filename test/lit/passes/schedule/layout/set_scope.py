# RUN: tir-opt %s --split-input-file --verify-diagnostics --mlir-print-local-scope -p 'tir-set-scope{block=Y buffer=0 scope=shared}' | FileCheck %s
# RUN: not tir-opt %S/../Inputs/whole_buffer.mlir -p 'tir-set-scope{block=Y buffer=0 scope=shared}' 2>&1 | FileCheck %s --check-prefix=WHOLE


# WHOLE: error: {{.*}}the whole buffer is passed to @sink, whose signature fixes its scope; pass an access pointer instead
# Everywhere at once: the allocation, and the types of all that use it.
# CHECK-LABEL: func.func @allocated
# CHECK: memref.alloc() {{.*}}tir.name = "Y_shared"{{.*}} : memref<8xf32, "shared">
# CHECK: affine.store {{.*}} : memref<8xf32, "shared">
# CHECK: affine.load {{.*}} : memref<8xf32, "shared">
@T.prim_func
def allocated(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
    Y = T.alloc_buffer((8,), "float32")
    for i in range(8):
        with T.block("Y"):
            vi = T.axis.spatial(8, i)
            Y[vi] = A[vi]
    for i in range(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = Y[vi]


# -----


# CHECK-LABEL: func.func @prefetched
# CHECK: affine.for {{.*}} {
# CHECK: tir.annotations = {prefetch = "Y_shared"}
@T.prim_func
def prefetched(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
    Y = T.alloc_buffer((8,), "float32")
    for i in range(8):
        with T.block("Y"):
            vi = T.axis.spatial(8, i)
            Y[vi] = A[vi]
    for i in T.serial(8, annotations={"prefetch": "Y"}):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = Y[vi]


# -----


@T.prim_func
def parameter(A: T.Buffer((8,), "float32"), C: T.Buffer((8,), "float32")):
    for i in range(8):
        # expected-error @below {{C is a parameter of the function, whose memory belongs to the caller; cache_write it and set the scope of the copy}}
        with T.block("Y"):
            vi = T.axis.spatial(8, i)
            C[vi] = A[vi]


# -----


# Nothing to change.
# CHECK-LABEL: func.func @parameter_of_that_scope
# CHECK-SAME: tir.name = "C"
@T.prim_func
def parameter_of_that_scope(A: T.Buffer((8,), "float32"), C: T.Buffer((8,), "float32", scope="shared")):
    for i in range(8):
        with T.block("Y"):
            vi = T.axis.spatial(8, i)
            C[vi] = A[vi]
