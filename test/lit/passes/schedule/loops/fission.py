# RUN: tir-opt %s --split-input-file --verify-diagnostics --emit=script -p 'tir-fission{loop=i after=B}' | FileCheck %s


# The loop becomes two, with the blocks before and after the cut; both keep its kind.
# CHECK-LABEL: def in_two(
@T.prim_func
def in_two(A: T.Buffer((8,), "float32"), C: T.Buffer((8,), "float32"), D: T.Buffer((8,), "float32")):
    # CHECK: B = T.alloc_buffer((8,))
    # CHECK-NEXT: for i in T.parallel(8):
    # CHECK-NEXT: with T.block("B"):
    # CHECK: B[vi] = A[vi] * T.float32(2.0)
    # CHECK-NEXT: for i in T.parallel(8):
    # CHECK-NEXT: with T.block("C"):
    # CHECK: C[vi] = B[vi] + T.float32(1.0)
    # CHECK-NEXT: with T.block("D"):
    B = T.alloc_buffer((8,))
    for i in T.parallel(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = A[vi] * 2.0
        with T.block("C"):
            vi = T.axis.spatial(8, i)
            C[vi] = B[vi] + 1.0
        with T.block("D"):
            vi = T.axis.spatial(8, i)
            D[vi] = C[vi]


# -----


# The second part may read what earlier iterations of the first part wrote.
# CHECK-LABEL: def looks_back(
@T.prim_func
def looks_back(A: T.Buffer((8,), "float32"), B: T.Buffer((9,), "float32"), C: T.Buffer((8,), "float32")):
    # CHECK: for i in range(8):
    # CHECK-NEXT: with T.block("B"):
    # CHECK: for i, j in T.grid(8, 4):
    # CHECK-NEXT: with T.block("C"):
    for i in range(8):
        with T.block("B"):
            vi = T.axis.opaque(8, i)
            B[vi + 1] = B[vi] + A[vi]
        for j in range(4):
            with T.block("C"):
                vi = T.axis.spatial(8, i)
                vj = T.axis.reduce(4, j)
                with T.init():
                    C[vi] = T.float32(0)
                C[vi] = C[vi] + B[vi]


# -----


@T.prim_func
def one_element(A: T.Buffer((8,), "float32"), C: T.Buffer((8,), "float32")):
    B = T.alloc_buffer((1,))
    for i in range(8):
        # expected-error @below {{in two loops a dependence would run backwards: C(i=0) and B(i=1) touch B[0]}}
        with T.block("B"):
            vi = T.axis.opaque(8, i)
            B[0] = A[vi]
        with T.block("C"):
            vi = T.axis.spatial(8, i)
            C[vi] = B[0]


# -----


@T.prim_func
def a_window_too_far(A: T.Buffer((9,), "float32"), C: T.Buffer((8,), "float32")):
    for i in range(8):
        # expected-error @below {{in two loops a dependence would run backwards: C(i=0) and B(i=1) touch A[1]}}
        with T.block("B"):
            vi = T.axis.opaque(8, i)
            A[vi] = T.float32(1)
        with T.block("C"):
            vi = T.axis.spatial(8, i)
            C[vi] = A[vi + 1]


# -----


@T.prim_func
def nothing_after(B: T.Buffer((8,), "float32")):
    for i in range(8):
        # expected-error @below {{nothing follows block "B" in loop i}}
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = T.float32(1)


# -----


@T.prim_func
def another_loop(B: T.Buffer((8,), "float32"), C: T.Buffer((8,), "float32")):
    for i in range(8):
        with T.block("C"):
            vi = T.axis.spatial(8, i)
            C[vi] = T.float32(1)
    for j in range(8):
        # expected-error @below {{block "B" is not in loop i}}
        with T.block("B"):
            vi = T.axis.spatial(8, j)
            B[vi] = T.float32(1)


# -----


@T.prim_func
def deeper(B: T.Buffer((8, 4), "float32"), C: T.Buffer((8, 4), "float32")):
    for i in range(8):
        for j in range(4):
            # expected-error @below {{block "C" follows block "B" in loop j of the body of loop i}}
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = T.float32(1)
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = T.float32(1)


# -----


@T.prim_func
def inside_a_block(B: T.Buffer((8,), "float32"), C: T.Buffer((8,), "float32")):
    for i in range(8):
        with T.block("outer"):
            vi = T.axis.spatial(8, i)
            # expected-error @below {{block "B" is inside block "outer", which fission does not take apart}}
            with T.block("B"):
                B[vi] = T.float32(1)
        with T.block("C"):
            vi = T.axis.spatial(8, i)
            C[vi] = T.float32(1)


# -----


@T.prim_func
def threads(B: T.Buffer((8,), "float32"), C: T.Buffer((8,), "float32")):
    # expected-error @below {{loop i is bound to threadIdx.x; fission it before binding}}
    for i in T.thread_binding(8, thread="threadIdx.x"):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = T.float32(1)
        with T.block("C"):
            vi = T.axis.spatial(8, i)
            C[vi] = T.float32(1)


# -----


@T.prim_func
def a_value_between(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32"), C: T.Buffer((8,), "float32")):
    # expected-error @below {{x is computed in the first part of loop i and used in the second}}
    for i in range(8):
        x: T.let[T.float32] = A[i]
        with T.block("B"):
            B[i] = x
        with T.block("C"):
            C[i] = x


# -----


@T.prim_func
def in_a_condition(B: T.Buffer((8,), "float32"), C: T.Buffer((8,), "float32"), n: T.int32):
    for i in range(8):
        if n > 3:
            # expected-error @below {{block "C" follows block "B" in the same statement of the body of loop i}}
            with T.block("B"):
                vi = T.axis.spatial(8, i)
                B[vi] = T.float32(1)
            with T.block("C"):
                vi = T.axis.spatial(8, i)
                C[vi] = T.float32(1)
