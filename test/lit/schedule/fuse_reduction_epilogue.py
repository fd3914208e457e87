# RUN: tir-opt %s --split-input-file --verify-diagnostics --emit=script -p 'tir-fuse-reduction-epilogue{reduction_block=C epilogue_block=D}' | FileCheck %s
# RUN: not tir-opt %S/Inputs/init_block.py --split-input-file -p 'tir-fuse-reduction-epilogue{reduction_block=#4 epilogue_block=S}' 2>&1 | FileCheck %s --check-prefix=INIT


# INIT: error: {{.*}}block "Y" stands in another scope, or in an init; name two siblings
# CHECK-LABEL: def biased(
@T.prim_func
def biased(A: T.Buffer((6, 5), "float32"), B: T.Buffer((6,), "float32"), D: T.Buffer((6,), "float32")):
    # CHECK: for i, k in T.grid(6, 5):
    # CHECK-NEXT: with T.block("C"):
    # CHECK: T.reads(B[vi], A[vi, vk])
    # CHECK-NEXT: T.writes(D[vi])
    # CHECK: D[vi] = B[vi]
    # CHECK-NEXT: D[vi] = D[vi] + A[vi, vk]
    # CHECK-NOT: block("D")
    C = T.alloc_buffer((6,))
    for i, k in T.grid(6, 5):
        with T.block("C"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                C[vi] = T.float32(0)
            C[vi] = C[vi] + A[vi, vk]
    for i in range(6):
        with T.block("D"):
            vi = T.axis.spatial(6, i)
            D[vi] = C[vi] + B[vi]


# -----


# CHECK-LABEL: def greatest(
@T.prim_func
def greatest(A: T.Buffer((6, 5), "float32"), D: T.Buffer((6,), "float32")):
    # CHECK: D[vi] = T.float32(0.0)
    # CHECK-NEXT: D[vi] = T.max(T.max(D[vi], A[vi, vk]), T.float32(0.0))
    C = T.alloc_buffer((6,))
    for i, k in T.grid(6, 5):
        with T.block("C"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                C[vi] = T.min_value("float32")
            C[vi] = T.max(C[vi], A[vi, vk])
    for i in range(6):
        with T.block("D"):
            vi = T.axis.spatial(6, i)
            D[vi] = T.max(C[vi], T.float32(0))


# -----


@T.prim_func
def clipped(A: T.Buffer((6, 5), "float32"), D: T.Buffer((6,), "float32")):
    C = T.alloc_buffer((6,))
    for i, k in T.grid(6, 5):
        with T.block("C"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                C[vi] = T.float32(0)
            C[vi] = C[vi] + A[vi, vk]
    for i in range(6):
        # expected-error @below {{block "D" does maximumf to a sum that would not be finished: something may be added to a sum, or subtracted from it (of the terms -3 and 5, T.max(-3 + 5, 0) is 2, but clipped at each step it is 5)}}
        with T.block("D"):
            vi = T.axis.spatial(6, i)
            D[vi] = T.max(C[vi], T.float32(0))


# -----


@T.prim_func
def scaled(A: T.Buffer((6, 5), "float32"), D: T.Buffer((6,), "float32")):
    C = T.alloc_buffer((6,))
    for i, k in T.grid(6, 5):
        with T.block("C"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                C[vi] = T.float32(0)
            C[vi] = C[vi] + A[vi, vk]
    for i in range(6):
        # expected-error @below {{(of the terms 1 and 2, (1 + 2) * 3 is 9, but scaled at each step it is (1 * 3 + 2) * 3 = 15)}}
        with T.block("D"):
            vi = T.axis.spatial(6, i)
            D[vi] = C[vi] * T.float32(2)


# -----


@T.prim_func
def twice(A: T.Buffer((6, 5), "float32"), D: T.Buffer((6,), "float32")):
    C = T.alloc_buffer((6,))
    for i, k in T.grid(6, 5):
        with T.block("C"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                C[vi] = T.float32(0)
            C[vi] = C[vi] + A[vi, vk]
    for i in range(6):
        # expected-error @below {{block "D" reads 2 times C; an epilogue reads the result of its reduction once}}
        with T.block("D"):
            vi = T.axis.spatial(6, i)
            D[vi] = C[vi] + C[vi]


# -----


@T.prim_func
def output(A: T.Buffer((6, 5), "float32"), C: T.Buffer((6,), "float32"), D: T.Buffer((6,), "float32")):
    for i, k in T.grid(6, 5):
        # expected-error @below {{C is not allocated in the scope: others see it, so it must stay as it is}}
        with T.block("C"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                C[vi] = T.float32(0)
            C[vi] = C[vi] + A[vi, vk]
    for i in range(6):
        with T.block("D"):
            vi = T.axis.spatial(6, i)
            D[vi] = C[vi]
