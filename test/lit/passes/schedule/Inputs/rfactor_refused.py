# Programs that rfactor refuses.


@T.prim_func
def behind(A: T.Buffer((8, 4), "float32"), V: T.Buffer((8,), "float32"), W: T.Buffer((8,), "float32")):
    # expected-error @below {{block "B" is not the first in loop i: its partial results are computed before everything in loop i}}
    for i in range(8):
        with T.block("W"):
            vi = T.axis.spatial(8, i)
            W[vi] = T.float32(0)
        for k_1 in range(4):
            with T.block("B"):
                vi, vk = T.axis.remap("SR", [i, k_1])
                with T.init():
                    V[vi] = T.float32(0)
                V[vi] = V[vi] + A[vi, vk]


# -----


@T.prim_func
def late_input(A: T.Buffer((8, 4), "float32"), V: T.Buffer((8,), "float32")):
    for i in range(8):
        for k_1 in range(4):
            with T.block("B"):
                vi, vk = T.axis.remap("SR", [i, k_1])
                with T.init():
                    V[vi] = T.float32(0)
                V[vi] = V[vi] + A[vi, vk]
        # expected-error @below {{A, which block "B" reads, is also written by block "W" under loop i: all partial results are computed before that loop}}
        with T.block("W"):
            vi = T.axis.spatial(8, i)
            A[vi, 0] = V[vi]


# -----


@T.prim_func
def shared_loop(A: T.Buffer((8, 4), "float32"), B: T.Buffer((8,), "float32")):
    # expected-error @below {{loop k_1 drives both reduce iters and the spatial iter vi; rfactor needs separate loops}}
    for k_1 in range(32):
        with T.block("B"):
            vi = T.axis.spatial(8, k_1 // 4)
            vk = T.axis.reduce(4, k_1 % 4)
            with T.init():
                B[vi] = T.float32(0)
            B[vi] = B[vi] + A[vi, vk]


# -----


@T.prim_func(check_well_formed=False)
def no_init_runs(A: T.Buffer((5,), "float32"), B: T.Buffer((1,), "float32")):
    C = T.alloc_buffer((1,), "float32")
    for k_1 in range(4):
        # expected-error @below {{iter vk does not start where its loops start, so its init runs in the middle of them}}
        with T.block("C"):
            vk = T.axis.reduce(5, k_1 + 1)
            with T.init():
                C[0] = T.float32(0)
            C[0] = C[0] + A[vk]
    with T.block("B"):
        B[0] = C[0]


# -----


@T.prim_func(check_well_formed=False)
def left_out_start(A: T.Buffer((8,), "float32"), B: T.Buffer((1,), "float32")):
    C = T.alloc_buffer((1,), "float32")
    for k_0, k_1 in T.grid(2, 4):
        # expected-error @below {{the guard of block "C" allows (k_0 = 0, k_1 = 1) but excludes the iteration with which the reduction starts, so no init runs for it}}
        with T.block("C"):
            vk = T.axis.reduce(8, k_0 * 4 + k_1)
            T.where(k_1 < 3 and 1 <= k_0 + k_1)
            with T.init():
                C[0] = T.float32(0)
            C[0] = C[0] + A[vk]
    with T.block("B"):
        B[0] = T.float32(1)


# -----


@T.prim_func
def some_parts(a: T.handle, C: T.Buffer((3,), "float32")):
    m = T.int32()
    A = T.match_buffer(a, (3, m), "float32")
    T.assume(m >= 5)
    for i, k_0, k_1 in T.grid(3, (m + 15) // 16, 16):
        # expected-error @below {{the guard of block "C" excludes some parts of loop k_1, depending on more than that loop; it holds only where m >= 16; split so that every part has a first iteration}}
        with T.block("C"):
            vi = T.axis.spatial(3, i)
            vk = T.axis.reduce(m, k_0 * 16 + k_1)
            T.where(k_0 * 16 + k_1 < m)
            with T.init():
                C[vi] = T.float32(0)
            C[vi] = C[vi] + A[vi, vk]


# -----


@T.prim_func
def from_a_size(a: T.handle, C: T.Buffer((1,), "float32")):
    m = T.int32()
    A = T.match_buffer(a, (m + 8,), "float32")
    D = T.alloc_buffer((1,), "float32")
    T.assume(m >= 1)
    for k_1 in range(m, m + 8):
        # expected-error @below {{which parts of loop k_1 are computed is not known}}
        with T.block("C"):
            vk = T.axis.reduce((m, m + 8), k_1)
            T.where(k_1 < 100)
            with T.init():
                D[0] = T.float32(0)
            D[0] = D[0] + A[vk]
    with T.block("B"):
        C[0] = T.float32(1)
