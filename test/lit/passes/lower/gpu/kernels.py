# RUN: tir-opt %s --split-input-file --mlir-print-local-scope -p 'tir-lower-blocks,tir-lower-gpu-axes,tir-lower-gpu-barriers,tir-lower-gpu-kernels{shared=100000}' | FileCheck %s


# Each nest becomes a kernel; the function launches them in order. A buffer between them is of the GPU's memory.
# CHECK-LABEL: func.func @two
# CHECK: %[[S:.*]] = memref.alloc() {{.*}} : memref<128xf32, #gpu.address_space<global>>
# CHECK: gpu.launch_func @two_kernels::@two_kernel blocks in (%c2{{.*}}) threads in (%c64{{.*}}) args(%arg0 : {{.*}}, %[[S]] :
# CHECK: gpu.launch_func @two_kernels::@two_kernel_1 blocks in (%c128{{.*}}) threads in (%c1{{.*}}) args(%arg1 : {{.*}}, %[[S]] :
# CHECK: gpu.module @two_kernels
# CHECK: gpu.func @two_kernel(
# CHECK-SAME: {llvm.align = 4 : i64, llvm.noalias, tir.name = "A"}
# CHECK-SAME: kernel attributes {known_block_size = array<i32: 64, 1, 1>}
# CHECK: %[[B:.*]] = gpu.block_id x
# CHECK: %[[T:.*]] = gpu.thread_id x
# CHECK: affine.store %{{.*}}, %arg1[%[[B]] * 64 + %[[T]]] : memref<128xf32, #gpu.address_space<global>>
# CHECK: gpu.func @two_kernel_1(
@T.prim_func
def two(A: T.Buffer((128,), "float32"), B: T.Buffer((128,), "float32")):
    S = T.alloc_buffer((128,), "float32")
    for i in T.thread_binding(2, thread="blockIdx.x"):
        for j in T.thread_binding(64, thread="threadIdx.x"):
            with T.block("S"):
                v = T.axis.spatial(128, i * 64 + j)
                S[v] = A[v]
    for i in T.thread_binding(128, thread="blockIdx.x"):
        with T.block("B"):
            v = T.axis.spatial(128, i)
            B[v] = S[v]


# -----


# Shared buffers are attributions up to 48 KiB together, local ones are allocated once.
# CHECK-LABEL: gpu.func @small_kernel(
# CHECK-SAME: workgroup(%{{.*}} : memref<12288xf32, #gpu.address_space<workgroup>> {llvm.align = 16 : i64, tir.name = "S"})
# CHECK: memref.alloca() {{.*}} : memref<4xf32, #gpu.address_space<private>>
# CHECK: affine.for
@T.prim_func
def small(A: T.Buffer((8,), "float32")):
    for i in T.thread_binding(8, thread="blockIdx.x"):
        with T.block("whole"):
            vi = T.axis.spatial(8, i)
            S = T.alloc_buffer((12288,), "float32", scope="shared")
            L = T.alloc_buffer((4,), "float32", scope="local")
            for k in range(4):
                with T.block("L"):
                    vk = T.axis.spatial(4, k)
                    L[vk] = T.float32(1)
            with T.block("S"):
                S[0] = L[0]
            with T.block("A"):
                A[vi] = S[0]


# -----


# More: parts of one buffer, whose size the launch says.
# CHECK-LABEL: func.func @large
# CHECK: dynamic_shared_memory_size %c49168_i32
# CHECK: gpu.func @large_kernel(%{{[^)]*}}) kernel
# CHECK: %[[D:.*]] = gpu.dynamic_shared_memory
# CHECK: memref.view %[[D]][%c0][] {tir.name = "S"} : {{.*}} to memref<12288xf32, #gpu.address_space<workgroup>>
# CHECK: memref.view %[[D]][%c49152][] {tir.name = "R"} : {{.*}} to memref<1xf32, #gpu.address_space<workgroup>>
@T.prim_func
def large(A: T.Buffer((8,), "float32")):
    for i in T.thread_binding(8, thread="blockIdx.x"):
        with T.block("whole"):
            vi = T.axis.spatial(8, i)
            S = T.alloc_buffer((12288,), "float32", scope="shared")
            R = T.alloc_buffer((1,), "float32", scope="shared")
            with T.block("S"):
                S[0] = T.float32(1)
            with T.block("R"):
                R[0] = S[0]
            with T.block("A"):
                A[vi] = R[0]


# -----


# A buffer of symbolic size is a pointer; the size is an argument of its own.
# CHECK-LABEL: func.func @symbolic
# CHECK: %[[N:.*]] = memref.dim
# CHECK: %[[G:.*]] = affine.apply affine_map<()[s0] -> ((s0 + 63) floordiv 64)>()[%[[N]]]
# CHECK: blocks in (%[[G]], {{.*}} args(%{{.*}} : memref<f32, #gpu.address_space<global>>, %[[N]] : index)
# CHECK: gpu.func @symbolic_kernel(%[[P:.*]]: memref<f32, {{.*}} %[[K:.*]]: index) kernel
# CHECK: memref.reinterpret_cast %[[P]] to offset: [0], sizes: [%[[K]]], strides: [1]
@T.prim_func
def symbolic(a: T.handle):
    n = T.int32()
    A = T.match_buffer(a, (n,), "float32")
    for i in T.thread_binding((n + 63) // 64, thread="blockIdx.x"):
        for j in T.thread_binding(64, thread="threadIdx.x"):
            with T.block("A"):
                v = T.axis.spatial(n, i * 64 + j)
                T.where(i * 64 + j < n)
                A[v] = T.float32(1)


# -----


# What threads exchange values through is not noalias: LLVM would keep its elements in registers over barriers.
# CHECK-LABEL: gpu.func @exchanged_kernel(
# CHECK-SAME: {llvm.align = 4 : i64, tir.name = "A"}
# CHECK-SAME: {llvm.align = 4 : i64, llvm.noalias, tir.name = "B"}
# CHECK-SAME: {llvm.align = 4 : i64, llvm.noalias, tir.name = "C"}
# CHECK: gpu.barrier
@T.prim_func
def exchanged(A: T.Buffer((64,), "float32"), B: T.Buffer((64,), "float32"), C: T.Buffer((64,), "float32")):
    for _ in T.thread_binding(1, thread="blockIdx.x"):
        for i in T.thread_binding(64, thread="threadIdx.x"):
            with T.block("A"):
                v = T.axis.spatial(64, i)
                A[v] = B[v]
            with T.block("C"):
                v = T.axis.spatial(64, i)
                C[v] = B[v]
        for i in T.thread_binding(63, thread="threadIdx.x"):
            with T.block("next"):
                v = T.axis.spatial(63, i)
                A[v + 1] = A[v + 1] + B[v]
