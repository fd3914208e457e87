# RUN: tir-opt %s --split-input-file -p 'tir-lower-blocks,tir-lower-compact,tir-lower-parallel-races,tir-lower-parallel,tir-lower-allocs' | FileCheck %s


# Small: the stack, at the start of the thread that owns it. Never in a serial loop.
# CHECK-LABEL: func.func @small
# CHECK: affine.parallel
# CHECK-NEXT: memref.alloca() {alignment = 64 {{.*}} : memref<1x1x4xf32>
# CHECK: affine.for
# CHECK-NOT: memref.alloc
# CHECK: return
@T.prim_func
def small(A: T.Buffer((8, 2, 4), "float32"), B: T.Buffer((8, 2, 4), "float32")):
    S = T.alloc_buffer((8, 2, 4), "float32")
    for i in T.parallel(8):
        for o in range(2):
            for j in range(4):
                with T.block("S"):
                    vi, vo, vj = T.axis.remap("SSS", [i, o, j])
                    S[vi, vo, vj] = A[vi, vo, vj]
            for j in range(4):
                with T.block("B"):
                    vi, vo, vj = T.axis.remap("SSS", [i, o, j])
                    B[vi, vo, vj] = S[vi, vo, vj]


# -----


# Large: the heap, given back at the end.
# CHECK-LABEL: func.func @large
# CHECK: %[[S:.*]] = memref.alloc() {alignment = 64 {{.*}} : memref<8192xf32>
# CHECK: memref.dealloc %[[S]]
# CHECK-NEXT: return
@T.prim_func
def large(A: T.Buffer((8192,), "float32"), B: T.Buffer((8192,), "float32")):
    S = T.alloc_buffer((8192,), "float32")
    for i in range(8192):
        with T.block("S"):
            vi = T.axis.spatial(8192, i)
            S[vi] = A[8191 - vi]
    for i in range(8192):
        with T.block("B"):
            vi = T.axis.spatial(8192, i)
            B[vi] = S[8191 - vi]
