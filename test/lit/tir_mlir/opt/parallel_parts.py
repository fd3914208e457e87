# RUN: tir-opt %s -p tir-lower-to-llvm | FileCheck %s


# The branches of a parallel loop that read B and C are equal but for these, and stay apart.
# CHECK-NOT: memref<
# CHECK: omp.parallel
# CHECK: omp.loop_nest
# CHECK-COUNT-3: llvm.load {{.*}} -> vector<16xf32>
# CHECK: llvm.store {{.*}} : vector<16xf32>
# CHECK-NOT: memref<
@T.prim_func
def joined(
    A: T.Buffer((32, 16), "float32"),
    B: T.Buffer((32, 16), "float32"),
    C: T.Buffer((32, 16), "float32"),
    D: T.Buffer((96, 16), "float32"),
):
    for i in T.parallel(96):
        for j in T.vectorized(16):
            with T.block("D"):
                vi, vj = T.axis.remap("SS", [i, j])
                D[vi, vj] = T.if_then_else(
                    vi < 32, A[vi, vj], T.if_then_else(vi < 64, B[vi - 32, vj], C[vi - 64, vj])
                )
