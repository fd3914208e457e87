# RUN: tir-opt %s --split-input-file --mlir-print-local-scope -p 'tir-lower-blocks,tir-lower-conditions,tir-lower-hoist-guards,tir-lower-peel-tails' | FileCheck %s


# Full tiles with a constant bound; the last one with the rest, at a fixed place.
# CHECK-LABEL: func.func @rows
# CHECK: affine.for %[[I:.*]] = 0 to 6 {
# CHECK-NEXT: affine.for %[[J:.*]] = 0 to 16 {
# CHECK: affine.store %{{.*}}, %arg0[%[[I]] * 16 + %[[J]]]
# CHECK: affine.for %[[K:.*]] = 0 to 4 {
# CHECK: affine.store %{{.*}}, %arg0[%[[K]] + 96]
# CHECK-NOT: affine.store
@T.prim_func
def rows(A: T.Buffer((100,), "float32")):
    for i in range(7):
        for j in T.vectorized(16):
            with T.block("A"):
                vi = T.axis.spatial(100, i * 16 + j)
                T.where(i * 16 + j < 100)
                A[vi] = T.float32(0)


# -----


# Two levels of tiles: the one tile that is not whole, and runs, stands behind the loop that ends before it.
# CHECK-LABEL: func.func @levels
# CHECK: affine.for %[[I:.*]] = 0 to 3 {
# CHECK-NEXT: affine.for %{{.*}} = 0 to min affine_map<(d0) -> (d0 * -4 + 9, 4)>(%[[I]]) {
# CHECK-NEXT: affine.for %{{.*}} = 0 to 6 {
# CHECK: affine.if affine_set<(d0) : (d0 - 2 == 0)>(%[[I]]) {
# CHECK-NEXT: affine.for %[[R:.*]] = 0 to 2 {
# CHECK: affine.store %{{.*}}, %arg0[%[[R]] + 54]
# CHECK-NOT: affine.for
@T.prim_func
def levels(A: T.Buffer((56,), "float32")):
    for i, j in T.grid(3, 4):
        for k in T.unroll(6):
            with T.block("A"):
                vi = T.axis.spatial(56, i * 24 + j * 6 + k)
                T.where(i * 24 + j * 6 + k < 56)
                A[vi] = T.float32(0)


# -----


# Tiles that are empty still run what has no bound: the outer loop is cut.
# CHECK-LABEL: func.func @beside
# CHECK: affine.for %{{.*}} = 0 to 2 {
# CHECK-NEXT: affine.for %{{.*}} = 0 to 4 {
# CHECK: affine.for %{{.*}} = 0 to 6 {
# CHECK: affine.for %{{.*}} = 0 to 6 {
# CHECK: affine.for %{{.*}} = 0 to 2 {
# CHECK: affine.for %{{.*}} = 2 to 4 {
# CHECK-NOT: affine.for
# CHECK: affine.store %{{.*}}, %arg1[0]
# CHECK-NOT: affine.for
@T.prim_func
def beside(A: T.Buffer((56,), "float32"), B: T.Buffer((1,), "float32")):
    for i, j in T.grid(3, 4):
        with T.block("B"):
            vi = T.axis.reduce(12, i * 4 + j)
            with T.init():
                B[0] = T.float32(0)
            B[0] = B[0] + T.float32(1)
        for k in T.unroll(6):
            with T.block("A"):
                vi = T.axis.spatial(56, i * 24 + j * 6 + k)
                T.where(i * 24 + j * 6 + k < 56)
                A[vi] = T.float32(0)


# -----


# Symbolic: the full tiles come first.
# CHECK-LABEL: func.func @symbolic
# CHECK: affine.for %{{.*}} = 0 to min affine_map<()[s0] -> (s0 floordiv 16, (s0 + 15) floordiv 16)>()[
# CHECK-NEXT: affine.for %{{.*}} = 0 to 16 {
# CHECK: affine.for %[[I:.*]] = affine_map<()[s0] -> (s0 floordiv 16)>()[{{.*}} to
# CHECK-NEXT: affine.for %{{.*}} = 0 to min affine_map<(d0)[s0] -> (16, d0 * -16 + s0)>(%[[I]])[
@T.prim_func
def symbolic(a: T.handle):
    n = T.int32()
    A = T.match_buffer(a, (n,), "float32")
    for i in range((n + 15) // 16):
        for j in T.vectorized(16):
            with T.block("A"):
                vi = T.axis.spatial(n, i * 16 + j)
                T.where(i * 16 + j < n)
                A[vi] = T.float32(0)


# -----


# A parallel loop stays one loop.
# CHECK-LABEL: func.func @threads
# CHECK: affine.for %[[I:.*]] = 0 to 7 {
# CHECK-NEXT: affine.for %{{.*}} = affine_map<(d0) -> (d0)>(%[[I]]) to min affine_map<(d0) -> (6, d0 + 1)>(%[[I]]) {
# CHECK-NEXT: affine.for %{{.*}} = 0 to 16 {
# CHECK: affine.for %{{.*}} = 6 to affine_map<(d0) -> (d0 + 1)>(%[[I]]) {
# CHECK-NEXT: affine.for %{{.*}} = 0 to 4 {
# CHECK: tir.kind = "parallel"
@T.prim_func
def threads(A: T.Buffer((100,), "float32")):
    for i in T.parallel(7):
        for j in T.vectorized(16):
            with T.block("A"):
                vi = T.axis.spatial(100, i * 16 + j)
                T.where(i * 16 + j < 100)
                A[vi] = T.float32(0)


# -----


# Where nothing is vectorized or unrolled, a bound costs nothing and the loop remains whole.
# CHECK-LABEL: func.func @serial
# CHECK: affine.for %{{.*}} = 0 to 7 {
# CHECK-NEXT: affine.for %{{.*}} = 0 to min
# CHECK-NOT: affine.for
@T.prim_func
def serial(A: T.Buffer((100,), "float32")):
    for i, j in T.grid(7, 16):
        with T.block("A"):
            vi = T.axis.spatial(100, i * 16 + j)
            T.where(i * 16 + j < 100)
            A[vi] = T.float32(0)


# -----


# Two levels, symbolic: the inner loop ends where tiles stop being whole, what is left runs behind it and no further.
# CHECK-LABEL: func.func @symbolic_levels
# CHECK: affine.for %[[I:.*]] = 0 to affine_map<()[s0] -> ((s0 + 63) floordiv 64)>
# CHECK-NEXT: affine.for %{{.*}} = 0 to min affine_map<(d0)[s0] -> (d0 * -4 + s0 floordiv 16, 4)>(%[[I]])
# CHECK-NEXT: affine.for %{{.*}} = 0 to 16 {
# CHECK: affine.for %[[R:.*]] = max affine_map<(d0)[s0] -> (0, d0 * -4 + s0 floordiv 16)>(%[[I]]){{.*}} to min affine_map<(d0)[s0] -> (4, (d0 * -64 + s0 + 15) floordiv 16)>
# CHECK-NEXT: affine.for %{{.*}} = 0 to min affine_map<(d0, d1)[s0] -> (16, d0 * -64 - d1 * 16 + s0)>(%[[I]], %[[R]])
# CHECK-NOT: affine.for
@T.prim_func
def symbolic_levels(a: T.handle):
    n = T.int32()
    A = T.match_buffer(a, (n,), "float32")
    for i, j in T.grid((n + 63) // 64, 4):
        for k in T.vectorized(16):
            with T.block("A"):
                vi = T.axis.spatial(n, i * 64 + j * 16 + k)
                T.where(i * 64 + j * 16 + k < n)
                A[vi] = T.float32(0)


# -----


# Symbolic rows inside a sum: the partial tile has a body for each number of rows, with constant bounds.
# CHECK-LABEL: func.func @counted
# CHECK: affine.for %{{.*}} = 0 to 3 {
# CHECK: affine.if affine_set<()[s0] : (s0 mod 3 - 1 == 0)>()[
# CHECK: affine.for %{{.*}} = 0 to 64 {
# CHECK-NOT: affine.for
# CHECK: affine.if affine_set<()[s0] : (s0 mod 3 - 2 == 0)>()[
# CHECK: affine.for %{{.*}} = 0 to 64 {
# CHECK-NEXT: affine.for %{{.*}} = 0 to 2 {
# CHECK-NOT: affine.for
@T.prim_func
def counted(a: T.handle, b: T.handle):
    n = T.int32()
    A = T.match_buffer(a, (n, 64))
    B = T.match_buffer(b, (n,))
    for i, k in T.grid((n + 2) // 3, 64):
        for j in T.unroll(3):
            with T.block("B"):
                vi = T.axis.spatial(n, i * 3 + j)
                vk = T.axis.reduce(64, k)
                T.where(i * 3 + j < n)
                B[vi] = B[vi] + A[vi, vk]


# -----


# The rest of a sum that is unrolled itself: no loop keeps anything in registers, and it stays one body.
# CHECK-LABEL: func.func @rest
# CHECK: affine.for %{{.*}} = 0 to 3 {
# CHECK-NOT: affine.if
# CHECK: affine.for %{{.*}} = 0 to 64 {
# CHECK-NEXT: affine.for %{{.*}} = 0 to min
# CHECK-NOT: affine.for
@T.prim_func
def rest(a: T.handle, b: T.handle):
    n = T.int32()
    A = T.match_buffer(a, (n, 64))
    B = T.match_buffer(b, (64,))
    for i, j in T.grid((n + 2) // 3, 64):
        for k in T.unroll(3):
            with T.block("B"):
                vj = T.axis.spatial(64, j)
                vk = T.axis.reduce(n, i * 3 + k)
                T.where(i * 3 + k < n)
                B[vj] = B[vj] + A[vk, vj]
