# RUN: tir-opt %s --split-input-file --verify-diagnostics --mlir-print-local-scope -p 'tir-lower-fastmath,tir-lower-blocks,tir-lower-gpu-shared-updates' | FileCheck %s


# CHECK-LABEL: func.func @counts
# CHECK: affine.for %{{.*}} = 0 to 4 {
# CHECK-NEXT: %[[S:.*]] = memref.alloc() {{.*}}tir.name = "H_shared"{{.*}} : memref<70xi32, "shared">
# CHECK: affine.for %[[C:.*]] = 0 to 2 {
# CHECK: affine.for %[[T:.*]] = 0 to 64 {
# CHECK: affine.if affine_set<(d0, d1) : (-(d0 * 64 + d1) + 69 >= 0)>(%[[C]], %[[T]])
# CHECK: affine.store %{{.*}}, %[[S]]
# CHECK: memref.load %[[S]]
# CHECK: memref.store %{{.*}}, %[[S]]
# CHECK: affine.load %arg1
# CHECK: affine.load %[[S]]
# CHECK: affine.store %{{.*}}, %arg1
# CHECK-NOT: shared_updates
@T.prim_func
def counts(X: T.Buffer((256,), "int32"), H: T.Buffer((70,), "int32")):
    for b in T.thread_binding(4, thread="blockIdx.x", annotations={"shared_updates": "H"}):
        for t in T.thread_binding(64, thread="threadIdx.x"):
            with T.block("H"):
                v = T.axis.reduce(256, b * 64 + t)
                H[X[v]] += 1


# -----


@T.prim_func
def another_use(X: T.Buffer((256,), "int32"), H: T.Buffer((70,), "int32"), Y: T.Buffer((256,), "int32")):
    # expected-error @below {{loop "b" cannot update a copy in shared memory: it uses H in another way, too; fix: leave the annotation}}
    for b in T.thread_binding(4, thread="blockIdx.x", annotations={"shared_updates": "H"}):
        for t in T.thread_binding(64, thread="threadIdx.x"):
            with T.block("H"):
                v = T.axis.reduce(256, b * 64 + t)
                H[X[v]] += 1
            with T.block("Y"):
                v = T.axis.spatial(256, b * 64 + t)
                Y[v] = H[X[v]]


# -----


@T.prim_func
def by_threads(X: T.Buffer((64,), "int32"), H: T.Buffer((70,), "int32")):
    # expected-error @below {{it is not the innermost loop over blocks around loops over threadIdx.x}}
    for t in T.thread_binding(64, thread="threadIdx.x", annotations={"shared_updates": "H"}):
        with T.block("H"):
            v = T.axis.reduce(64, t)
            H[X[v]] += 1


# -----


@T.prim_func
def no_update(X: T.Buffer((256,), "int32"), H: T.Buffer((256,), "int32")):
    # expected-error @below {{it updates no array G}}
    for b in T.thread_binding(4, thread="blockIdx.x", annotations={"shared_updates": "G"}):
        for t in T.thread_binding(64, thread="threadIdx.x"):
            with T.block("H"):
                v = T.axis.spatial(256, b * 64 + t)
                H[v] = X[v]
