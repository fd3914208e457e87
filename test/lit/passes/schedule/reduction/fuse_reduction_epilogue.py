# RUN: tir-opt %s --split-input-file --verify-diagnostics --emit=script -p 'tir-fuse-reduction-epilogue{reduction_block=C epilogue_block=D}' | FileCheck %s
# RUN: not tir-opt %S/../Inputs/init_block.py --split-input-file -p 'tir-fuse-reduction-epilogue{reduction_block=#4 epilogue_block=S}' 2>&1 | FileCheck %s --check-prefix=INIT
# RUN: not tir-opt %s --split-input-file -p 'tir-fuse-reduction-epilogue{reduction_block=C epilogue_block=C}' 2>&1 | FileCheck %s --check-prefix=ITSELF
# RUN: not tir-opt %S/../Inputs/alloc_between.mlir -p 'tir-fuse-reduction-epilogue{reduction_block=Y epilogue_block=B}' 2>&1 | FileCheck %s --check-prefix=ALLOC


# ITSELF: error: {{.*}}block "C" cannot be its own epilogue
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
        # expected-error @below {{block "D" does maximumf to an unfinished sum: a sum allows addition and subtraction (for the terms -3 and 5, T.max(-3 + 5, 0) is 2, but clipping at each step gives 5)}}
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
        # expected-error @below {{block "D" does mulf to an unfinished sum: a sum allows addition and subtraction (for the terms 1 and 2, (1 + 2) * 3 is 9, but scaling at each step gives (1 * 3 + 2) * 3 = 15)}}
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
        # expected-error @below {{C is not allocated in the scope and visible outside, so it must keep its values}}
        with T.block("C"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                C[vi] = T.float32(0)
            C[vi] = C[vi] + A[vi, vk]
    for i in range(6):
        with T.block("D"):
            vi = T.axis.spatial(6, i)
            D[vi] = C[vi]


# -----


@T.prim_func
def a_reduction_itself(A: T.Buffer((8, 4), "float32"), B: T.Buffer((8,), "float32")):
    C = T.alloc_buffer((8,), "float32")
    for i, k in T.grid(8, 4):
        with T.block("C"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                C[vi] = T.float32(0)
            C[vi] = C[vi] + A[vi, vk]
    for i, k in T.grid(8, 4):
        # expected-error @below {{block "D" is a reduction itself; an epilogue has no init}}
        with T.block("D"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                B[vi] = T.float32(0)
            B[vi] = B[vi] + C[vi]


# -----


@T.prim_func
def a_guard(A: T.Buffer((8, 4), "float32"), B: T.Buffer((8,), "float32")):
    C = T.alloc_buffer((8,), "float32")
    for i, k in T.grid(8, 4):
        with T.block("C"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                C[vi] = T.float32(0)
            C[vi] = C[vi] + A[vi, vk]
    for i in range(9):
        # expected-error @below {{block "D" has a guard (T.where), which the merged block would lose; split by factors that divide the extent, or apply this before the split that added the guard}}
        with T.block("D"):
            T.where(i < 8)
            vi = T.axis.spatial(8, i)
            B[vi] = C[vi] + T.float32(1)


# -----


@T.prim_func
def several_buffers(A: T.Buffer((8, 4), "float32"), B: T.Buffer((8,), "float32")):
    C = T.alloc_buffer((8,), "float32")
    E = T.alloc_buffer((8,), "float32")
    for i, k in T.grid(8, 4):
        # expected-error @below {{block "C" reduces into several buffers; only a single one can have an epilogue}}
        with T.block("C"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                C[vi] = T.float32(0)
                E[vi] = T.float32(0)
            C[vi] = C[vi] + A[vi, vk]
            E[vi] = E[vi] + A[vi, vk]
    for i in range(8):
        with T.block("D"):
            vi = T.axis.spatial(8, i)
            B[vi] = C[vi] + T.float32(1)


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


@T.prim_func
def used_elsewhere(A: T.Buffer((8, 4), "float32"), B: T.Buffer((8,), "float32"), X: T.Buffer((8,), "float32")):
    C = T.alloc_buffer((8,), "float32")
    for i, k in T.grid(8, 4):
        with T.block("C"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                C[vi] = T.float32(0)
            C[vi] = C[vi] + A[vi, vk]
    for i in range(8):
        with T.block("D"):
            vi = T.axis.spatial(8, i)
            B[vi] = C[vi] + T.float32(1)
    for i in range(8):
        # expected-error @below {{C is also used outside block "D", so it must remain}}
        with T.block("E"):
            vi = T.axis.spatial(8, i)
            X[vi] = C[vi]


# -----


@T.prim_func
def written_between(A: T.Buffer((8, 4), "float32"), B: T.Buffer((8,), "float32"), X: T.Buffer((8,), "float32")):
    C = T.alloc_buffer((8,), "float32")
    for i, k in T.grid(8, 4):
        with T.block("C"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                C[vi] = T.float32(0)
            C[vi] = C[vi] + A[vi, vk]
    for i in range(8):
        # expected-error @below {{X, which block "D" reads, is written between block "C" and it}}
        with T.block("X"):
            vi = T.axis.spatial(8, i)
            X[vi] = T.float32(0)
    for i in range(8):
        with T.block("D"):
            vi = T.axis.spatial(8, i)
            B[vi] = C[vi] + X[vi]


# -----


@T.prim_func
def used_between(A: T.Buffer((8, 4), "float32"), B: T.Buffer((8,), "float32"), X: T.Buffer((8,), "float32")):
    C = T.alloc_buffer((8,), "float32")
    for i, k in T.grid(8, 4):
        with T.block("C"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                C[vi] = T.float32(0)
            C[vi] = C[vi] + A[vi, vk]
    for i in range(8):
        # expected-error @below {{B, which block "D" writes, is used between block "C" and it; it would contain unfinished results there}}
        with T.block("X"):
            vi = T.axis.spatial(8, i)
            X[vi] = B[vi]
    for i in range(8):
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


@T.prim_func
def the_input_changes(A: T.Buffer((8, 4), "float32"), B: T.Buffer((8,), "float32"), E: T.Buffer((8,), "float32")):
    C = T.alloc_buffer((8,), "float32")
    for i, k in T.grid(8, 4):
        with T.block("C"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                C[vi] = T.float32(0)
            C[vi] = C[vi] + A[vi, vk]
        with T.block("D"):
            vi = T.axis.spatial(8, i)
            B[vi] = C[vi] + E[vi]
        # expected-error @below {{block "D" runs in loop k, in the middle of the reduction over vk, and E is written there}}
        with T.block("E"):
            vi, vk = T.axis.remap("SO", [i, k])
            E[vi] = A[vi, vk]


# -----


@T.prim_func
def a_part(A: T.Buffer((8, 4), "float32"), B: T.Buffer((8,), "float32")):
    C = T.alloc_buffer((8,), "float32")
    for i, k in T.grid(8, 4):
        with T.block("C"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                C[vi] = T.float32(0)
            C[vi] = C[vi] + A[vi, vk]
    for i in range(4):
        # expected-error @below {{the reduction also computes C[4], which block "D" does not read there}}
        with T.block("D"):
            vi = T.axis.spatial(4, i)
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


# -----


@T.prim_func
def a_condition(A: T.Buffer((8, 4), "float32"), B: T.Buffer((8,), "float32"), X: T.Buffer((8,), "float32")):
    C = T.alloc_buffer((8,), "float32")
    for i, k in T.grid(8, 4):
        with T.block("C"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                C[vi] = T.float32(0)
            C[vi] = C[vi] + A[vi, vk]
    if X[0] > T.float32(0):
        for i in range(8):
            # expected-error @below {{block "D" runs only where a condition on data holds}}
            with T.block("D"):
                vi = T.axis.spatial(8, i)
                B[vi] = C[vi] + T.float32(1)


# -----


@T.prim_func
def a_gather(A: T.Buffer((8, 4), "float32"), B: T.Buffer((8,), "float32"), X: T.Buffer((8,), "int32")):
    C = T.alloc_buffer((8,), "float32")
    for i, k in T.grid(8, 4):
        with T.block("C"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                C[vi] = T.float32(0)
            C[vi] = C[vi] + A[vi, vk]
    for i in range(8):
        # expected-error @below {{block "D" uses C by memref.load; an epilogue loads it at an affine index}}
        with T.block("D"):
            vi = T.axis.spatial(8, i)
            B[vi] = C[X[vi]] + T.float32(1)


# -----


@T.prim_func
def shared(A: T.Buffer((8, 4), "float32"), B: T.Buffer((8,), "float32"), X: T.Buffer((8, 4), "float32")):
    C = T.alloc_buffer((8,), "float32")
    for i, k in T.grid(8, 4):
        with T.block("C"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                C[vi] = T.float32(0)
            C[vi] = C[vi] + A[vi, vk]
    for i, j in T.grid(8, 4):
        # expected-error @below {{two iterations of block "D" access the same element: its index cannot be solved for its iters}}
        with T.block("D"):
            vi, vj = T.axis.remap("SS", [i, j])
            X[vi, vj] = C[vi] + T.float32(1)
