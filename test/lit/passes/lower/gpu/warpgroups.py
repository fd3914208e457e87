# RUN: tir-opt %s --mlir-print-local-scope -p 'tir-lower-blocks,tir-lower-gpu-warpgroups{wgmma=true}' | FileCheck %s
# RUN: not tir-opt %s -p 'tir-lower-blocks,tir-lower-gpu-warpgroups{chip=sm_80}' 2>&1 | FileCheck %s --check-prefix=OLD


# OLD: S is of scope wgmma.accumulator, which sm_80 does not have; fix: build for "sm_90a"
# CHECK: affine.for %[[T:.*]] = 0 to 128
# CHECK-NEXT: affine.if affine_set<(d0) : (d0 == 0)>(%[[T]])
# CHECK-NEXT: affine.for {{.*}} = 0 to 64
# CHECK-NEXT: affine.for {{.*}} = 0 to 8
# CHECK: tir.kind = "threadIdx.x", tir.loop = "lane"
@T.prim_func
def main(A: T.Buffer((64, 8), "float32")):
    S = T.alloc_buffer((64, 8), "float32", scope="wgmma.accumulator")
    for b in T.thread_binding(1, thread="blockIdx.x"):
        for i, j in T.grid(64, 8):
            with T.block("S"):
                vi, vj = T.axis.remap("SS", [i, j])
                S[vi, vj] = T.float32(0)
        for i, j in T.grid(64, 8):
            with T.block("A"):
                vi, vj = T.axis.remap("SS", [i, j])
                A[vi, vj] = S[vi, vj]
