# RUN: tir-opt %s --split-input-file --verify-diagnostics --emit=script -p 'tir-write-in-place{block=C buffer=B}' | FileCheck %s
# RUN: not tir-opt %s --split-input-file -p 'tir-write-in-place{block=C buffer=X}' 2>&1 | FileCheck %s --check-prefix=NAME


# NAME: error: {{.*}}block "C" reads no buffers named 'X'; it reads 0: B
# CHECK-LABEL: def stages(
@T.prim_func
def stages(A: T.Buffer((8,), "float32"), D: T.Buffer((8,), "float32")):
    # CHECK: B = T.alloc_buffer((8,))
    # CHECK-NOT: alloc_buffer
    # CHECK: B[vi] = B[vi] * T.float32(2.0)
    # CHECK: D[vi] = B[vi]
    B = T.alloc_buffer((8,))
    C = T.alloc_buffer((8,))
    for i in range(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = A[vi] + T.float32(1)
    for i in range(8):
        with T.block("C"):
            vi = T.axis.spatial(8, i)
            C[vi] = B[vi] * T.float32(2)
    for i in range(8):
        with T.block("D"):
            vi = T.axis.spatial(8, i)
            D[vi] = C[vi]


# -----


@T.prim_func
def read_later(A: T.Buffer((8,), "float32"), D: T.Buffer((8,), "float32")):
    B = T.alloc_buffer((8,))
    C = T.alloc_buffer((8,))
    for i in range(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = A[vi] + T.float32(1)
    for i in range(8):
        # expected-error @below {{an element of B is read after block "C" has read it, which would overwrite it}}
        with T.block("C"):
            vi = T.axis.spatial(8, i)
            C[vi] = B[vi] * T.float32(2)
    for i in range(8):
        with T.block("D"):
            vi = T.axis.spatial(8, i)
            D[vi] = C[vi] + B[vi]
