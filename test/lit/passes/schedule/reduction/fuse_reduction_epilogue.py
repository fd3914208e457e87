# RUN: tir-opt %s --split-input-file --verify-diagnostics --emit=script -p 'tir-fuse-reduction-epilogue{reduction_block=C epilogue_block=D}' | FileCheck %s
# RUN: not tir-opt %S/../Inputs/init_block.py --split-input-file -p 'tir-fuse-reduction-epilogue{reduction_block=#4 epilogue_block=S}' 2>&1 | FileCheck %s --check-prefix=INIT
# RUN: not tir-opt %S/../Inputs/alloc_between.mlir -p 'tir-fuse-reduction-epilogue{reduction_block=Y epilogue_block=B}' 2>&1 | FileCheck %s --check-prefix=ALLOC


# ALLOC: error: {{.*}}B is allocated after block "Y"
# INIT: error: {{.*}}block "Y" is in another scope, or in an init; pass two siblings
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


# The sums are in D now.
# CHECK-LABEL: def prefetched(
@T.prim_func
def prefetched(A: T.Buffer((6, 5), "float32"), B: T.Buffer((6,), "float32"), D: T.Buffer((6,), "float32")):
    # CHECK: for i in T.serial(6, annotations={"prefetch": "D"}):
    C = T.alloc_buffer((6,))
    for i in T.serial(6, annotations={"prefetch": "C"}):
        for k in range(5):
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


@T.prim_func(check_well_formed=False)
def another_branch(A: T.Buffer((8, 4), "float32"), B: T.Buffer((8,), "float32"), n: T.int32):
    C = T.alloc_buffer((8,), "float32")
    if n > 3:
        for i, k in T.grid(8, 4):
            with T.block("C"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    C[vi] = T.float32(0)
                C[vi] = C[vi] + A[vi, vk]
    else:
        for i in range(8):
            # expected-error @below {{block "D" does not run after block "C" in each iteration of their common loops}}
            with T.block("D"):
                vi = T.axis.spatial(8, i)
                B[vi] = C[vi] + T.float32(1)


# -----


# The epilogue runs after each term: the last run counts.
# CHECK-LABEL: def in_the_middle(
@T.prim_func
def in_the_middle(A: T.Buffer((8, 4), "float32"), B: T.Buffer((8,), "float32")):
    # CHECK-NOT: T.alloc_buffer
    # CHECK: with T.init():
    # CHECK-NEXT: B[vi] = T.float32(1.0)
    # CHECK-NEXT: B[vi] = B[vi] + A[vi, vk]
    # CHECK-NOT: T.block("D")
    C = T.alloc_buffer((8,), "float32")
    for i, k in T.grid(8, 4):
        with T.block("C"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                C[vi] = T.float32(0)
            C[vi] = C[vi] + A[vi, vk]
        with T.block("D"):
            vi = T.axis.spatial(8, i)
            B[vi] = C[vi] + T.float32(1)


# -----


@T.prim_func(check_well_formed=False)
def other_elements(A: T.Buffer((8, 4), "float32"), B: T.Buffer((8,), "float32")):
    C = T.alloc_buffer((8,), "float32")
    for i in range(8):
        for k in range(4):
            with T.block("C"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    C[vi] = T.float32(0)
                C[vi] = C[vi] + A[vi, vk]
        # expected-error @below {{block "D" needs C[7], which the reduction does not compute there}}
        with T.block("D"):
            vi = T.axis.spatial(8, i)
            B[vi] = C[7 - vi] + T.float32(1)
