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


# -----


# Of a branch: on the heap where it is taken, outside of its loops.
# CHECK-LABEL: func.func @versions
# CHECK-NOT: memref.alloc
# CHECK: affine.if
# CHECK: %[[V:.*]] = memref.alloc({{.*}}) {alignment = 64
# CHECK: affine.for
# CHECK: memref.dealloc %[[V]]
# CHECK-NEXT: }
@T.prim_func
def versions(a: T.handle, b: T.handle):
    n = T.int32()
    A = T.match_buffer(a, (n,), "float32")
    B = T.match_buffer(b, (n,), "float32")
    with T.block("version"):
        T.where(n > 100)
        T.reads(A[0:n])
        T.writes(B[0:n])
        V = T.alloc_buffer((n,), "float32")
        for i in range(n):
            with T.block("V"):
                vi = T.axis.spatial(n, i)
                V[vi] = A[n - 1 - vi]
        for i in range(n):
            with T.block("B"):
                vi = T.axis.spatial(n, i)
                B[vi] = V[n - 1 - vi]
