# RUN: tir-opt %s --split-input-file --mlir-print-local-scope -p 'tir-lower-blocks,tir-lower-gpu-warps' | FileCheck %s


# The first lane stands for the warp in a call of a matrix function.
# CHECK-LABEL: func.func @fill
# CHECK: affine.for %[[T:.*]] = 0 to 32 {
# CHECK-NEXT: affine.if affine_set<(d0) : (d0 == 0)>(%[[T]]) {
# CHECK: call @tvm_fill_fragment
# CHECK: tir.kind = "threadIdx.x"
@T.prim_func
def fill(A: T.Buffer((16,), "float32")):
    F = T.alloc_buffer((16, 16), "float32", scope="wmma.accumulator")
    with T.block("fill"):
        T.reads()
        T.writes(F[0:16, 0:16])
        for tx in T.thread_binding(32, thread="threadIdx.x"):
            T.tvm_fill_fragment(F.data, 16, 16, 16, 0, T.float32(0))
