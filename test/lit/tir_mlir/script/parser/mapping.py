# TVMScript becomes plain MLIR: loops, one-point blocks, guards, facts as attributes.
# RUN: tir-opt %s --split-input-file --mlir-print-local-scope | FileCheck %s

from tir_mlir.script import tir as T

N = 4 * 4  # constants of a file can be used


@T.prim_func
def matmul(A: T.Buffer((N, 8), "float32"), B: T.Buffer((8, N), "float32"), C: T.Buffer((N, N), "float32")):
    T.func_attr({"tir.noalias": True})
    for i, j, k in T.grid(N, N, 8):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]


raise SystemExit("nothing but programs, imports and constants of a file is run")

# CHECK-LABEL: func.func @matmul(
# CHECK-SAME: %[[A:.*]]: memref<16x8xf32> {tir.name = "A"}
# CHECK-SAME: %[[B:.*]]: memref<8x16xf32> {tir.name = "B"}
# CHECK-SAME: %[[C:.*]]: memref<16x16xf32> {tir.name = "C"}
# CHECK-SAME: tir.attrs = {{.*}}tir.noalias = true
# CHECK: affine.for %[[I:.*]] = 0 to 16 {
# CHECK-NEXT: affine.for %[[J:.*]] = 0 to 16 {
# CHECK-NEXT: affine.for %[[K:.*]] = 0 to 8 {
# CHECK-NEXT: affine.parallel (%[[VI:.*]], %[[VJ:.*]], %[[VK:.*]]) = (%[[I]], %[[J]], %[[K]]) to (%[[I]] + 1, %[[J]] + 1, %[[K]] + 1) {
# CHECK-NEXT: affine.if affine_set<(d0) : (d0 == 0)>(%[[VK]]) {
# CHECK: affine.store %{{.*}}, %[[C]][%[[VI]], %[[VJ]]] : memref<16x16xf32>
# CHECK: } {tir.init}
# CHECK-DAG: %[[X:.*]] = affine.load %[[C]][%[[VI]], %[[VJ]]] : memref<16x16xf32>
# CHECK-DAG: %[[Y:.*]] = affine.load %[[A]][%[[VI]], %[[VK]]] : memref<16x8xf32>
# CHECK-DAG: %[[Z:.*]] = affine.load %[[B]][%[[VK]], %[[VJ]]] : memref<8x16xf32>
# CHECK: %[[P:.*]] = arith.mulf %[[Y]], %[[Z]] : f32
# CHECK: %[[S:.*]] = arith.addf %[[X]], %[[P]] : f32
# CHECK: affine.store %[[S]], %[[C]][%[[VI]], %[[VJ]]] : memref<16x16xf32>
# CHECK: } {tir.block = "C", tir.extent = affine_map<() -> (16, 16, 8)>, tir.id = {{.*}}, tir.iters = ["S", "S", "R"], tir.min = affine_map<() -> (0, 0, 0)>, tir.names = ["vi", "vj", "vk"], tir.syms = []}
# CHECK: } {{{.*}}tir.loop = "k"}
# CHECK: } {{{.*}}tir.loop = "j"}
# CHECK: } {{{.*}}tir.loop = "i"}

# -----

from tir_mlir.script import tir as T


@T.prim_func
def guarded(A: T.Buffer((13,), "float32")):
    B = T.alloc_buffer((13,), scope="shared")
    for i, j in T.grid(4, 4):
        with T.block("B"):
            vi = T.axis.spatial(13, i * 4 + j)
            T.where(i * 4 + j < 13)
            B[vi] = T.float32(0)
    for i in T.parallel(13):
        with T.block("A"):
            vi = T.axis.spatial(13, i)
            A[vi] = B[vi]


# CHECK-LABEL: func.func @guarded(
# CHECK: %[[B:.*]] = memref.alloc() {alignment = 64 : i64, tir.name = "B"} : memref<13xf32, "shared">
# CHECK: affine.if affine_set<(d0, d1) : (d0 * -4 - d1 + 12 >= 0)>
# CHECK-NEXT: affine.parallel (%{{.*}}) = (%{{.*}} * 4 + %{{.*}})
# CHECK: } {tir.where}
# CHECK: } {tir.id = {{.*}}, tir.kind = "parallel", tir.loop = "i"}

# -----

from tir_mlir.script import tir as T


@T.prim_func
def symbolic(a: T.handle, b: T.handle, n: T.int32):
    A = T.match_buffer(a, (n,), "float32")
    B = T.match_buffer(b, (n,), "float32")
    for i in range(n):
        with T.block("B"):
            vi = T.axis.spatial(n, i)
            B[vi] = A[vi]


# CHECK-LABEL: func.func @symbolic(
# CHECK-SAME: memref<?xf32> {tir.name = "A", tir.shape = affine_map<()[s0] -> (s0)>, tir.syms = ["n"]}
# CHECK-SAME: %[[N:[^ :]*]]: index {tir.name = "n"}
# CHECK: affine.for %{{.*}} = 0 to %[[N]]
# CHECK: tir.extent = affine_map<()[s0] -> (s0)>{{.*}}tir.syms = ["n"]
