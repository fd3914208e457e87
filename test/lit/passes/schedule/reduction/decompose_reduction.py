# RUN: tir-opt %s --split-input-file --verify-diagnostics --emit=script -p 'tir-decompose-reduction{block=B loop=k}' | FileCheck %s
# RUN: not tir-opt %S/../Inputs/reduce_index.mlir -p 'tir-decompose-reduction{block=B loop=k}' 2>&1 | FileCheck %s --check-prefix=INDEX


# INDEX: error: {{.*}}iter vk of block "B" is declared reduce but indexes the store to A
# An ordered iter that a loop above the init determines.
# CHECK-LABEL: def stepped(
@T.prim_func
def stepped(A: T.Buffer((3, 8, 4), "float32"), B: T.Buffer((3, 8), "float32")):
    # CHECK: for t, i in T.grid(3, 8):
    # CHECK-NEXT: with T.block("B_init"):
    # CHECK-NEXT: vt = T.axis.opaque(3, t)
    # CHECK: for k in range(4):
    # CHECK-NEXT: with T.block("B_update"):
    for t, i, k in T.grid(3, 8, 4):
        with T.block("B"):
            vt, vi, vk = T.axis.remap("OSR", [t, i, k])
            with T.init():
                B[vt, vi] = T.float32(0)
            B[vt, vi] = B[vt, vi] + A[vt, vi, vk]


# -----


# CHECK-LABEL: def total(
@T.prim_func
def total(A: T.Buffer((8, 4), "float32"), B: T.Buffer((8,), "float32")):
    # CHECK: for i in range(8):
    # CHECK-NEXT: with T.block("B_init"):
    # CHECK: B[vi] = T.float32(0.0)
    # CHECK: for k in range(4):
    # CHECK-NEXT: with T.block("B_update"):
    # CHECK-NOT: T.init()
    for i, k in T.grid(8, 4):
        with T.block("B"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                B[vi] = T.float32(0)
            B[vi] = B[vi] + A[vi, vk]


# -----


@T.prim_func
def no_init(A: T.Buffer((8, 4), "float32"), B: T.Buffer((8,), "float32")):
    for i, k in T.grid(8, 4):
        # expected-error @below {{block "B" has no init}}
        with T.block("B"):
            vi, vk = T.axis.remap("SR", [i, k])
            B[vi] = B[vi] + A[vi, vk]


# -----


# The init would run again in the middle of the sum.
@T.prim_func
def outer_part(A: T.Buffer((8,), "float32"), B: T.Buffer((1,), "float32")):
    # expected-error @below {{reduce iter vk uses loop i, which is outside loop k: the init would run again in the middle of the reduction}}
    for i in range(2):
        for k in range(4):
            with T.block("B"):
                vk = T.axis.reduce(8, i * 4 + k)
                with T.init():
                    B[0] = T.float32(0)
                B[0] = B[0] + A[vk]


# -----


@T.prim_func
def another_loop(A: T.Buffer((8, 4), "float32"), B: T.Buffer((8,), "float32"), C: T.Buffer((8,), "float32")):
    # expected-error @below {{loop k is not around block "B" (its loops: i, j)}}
    for k in range(8):
        with T.block("C"):
            vi = T.axis.spatial(8, k)
            C[vi] = T.float32(0)
    for i, j in T.grid(8, 4):
        with T.block("B"):
            vi, vk = T.axis.remap("SR", [i, j])
            with T.init():
                B[vi] = T.float32(0)
            B[vi] = B[vi] + A[vi, vk]


# -----


@T.prim_func
def others(A: T.Buffer((8, 4), "float32"), B: T.Buffer((8,), "float32"), C: T.Buffer((8, 4), "float32")):
    for i in range(8):
        for k in range(4):
            # expected-error @below {{at C(i=0, k=0) an element of B is read that no iteration of loop k has written yet, but the init of block "B" would be written before it}}
            with T.block("C"):
                vi, vk = T.axis.remap("SS", [i, k])
                C[vi, vk] = B[vi]
            with T.block("B"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    B[vi] = T.float32(0)
                B[vi] = B[vi] + A[vi, vk]


# -----


@T.prim_func
def begun(A: T.Buffer((8, 4), "float32"), S: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
    X = T.alloc_buffer((8, 4), "float32")
    for i in range(8):
        for k in range(4):
            # expected-error @below {{block "X" writes X under loop k, and the init reads it, so the init cannot be hoisted out of the loop; choose an inner loop}}
            with T.block("X"):
                vi, vk = T.axis.remap("SS", [i, k])
                X[vi, vk] = S[vi] + T.float32(1)
            with T.block("B"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    B[vi] = X[vi, 0]
                B[vi] = B[vi] + A[vi, vk]


# -----


@T.prim_func
def repeated(A: T.Buffer((8, 4), "float32"), B: T.Buffer((8,), "float32")):
    for i in range(8):
        # expected-error @below {{loop k repeats block "B" without being bound to one of its iters: each repetition restarts the reduction, which an init hoisted out of the loop would not}}
        for k in range(2):
            for j in range(4):
                with T.block("B"):
                    vi, vk = T.axis.remap("SR", [i, j])
                    with T.init():
                        B[vi] = T.float32(0)
                    B[vi] = B[vi] + A[vi, vk]


# -----


@T.prim_func
def met_twice(A: T.Buffer((8, 4), "float32"), B: T.Buffer((8,), "float32")):
    for i in range(8):
        for k in range(2):
            for j in range(3):
                # expected-error @below {{under loop k two iterations of block "B" are the same point: a hoisted init would not restart the reduction for the second}}
                with T.block("B"):
                    vi = T.axis.spatial(8, i)
                    vk = T.axis.reduce(4, k + j)
                    with T.init():
                        B[vi] = T.float32(0)
                    B[vi] = B[vi] + A[vi, vk]


# -----


@T.prim_func
def no_start(A: T.Buffer((8, 8), "float32"), B: T.Buffer((8,), "float32")):
    for i in range(8):
        for k in range(8):
            # expected-error @below {{the guard of block "B" excludes the start of its reduce iters: the init never runs}}
            with T.block("B"):
                T.where(1 <= k)
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    B[vi] = T.float32(0)
                B[vi] = B[vi] + A[vi, vk]


# -----


@T.prim_func
def begun_before(A: T.Buffer((3, 3), "float32"), B: T.Buffer((3,), "float32")):
    for i in range(3):
        with T.block("both"):
            T.reads()
            T.writes()
            with T.block("first"):
                T.reads()
                T.writes()
                for h in range(2):
                    with T.block("B_first"):
                        vi = T.axis.spatial(3, i)
                        vk = T.axis.reduce(3, h)
                        with T.init():
                            B[vi] = T.float32(0)
                        B[vi] = B[vi] + A[vi, vk]
            with T.block("second"):
                T.reads()
                T.writes()
                for k in range(2, 3):
                    # expected-error @below {{under loop k the reduction of block "B" does not always begin: a hoisted init would restart it}}
                    with T.block("B"):
                        vi = T.axis.spatial(3, i)
                        vk = T.axis.reduce(3, k)
                        with T.init():
                            B[vi] = T.float32(0)
                        B[vi] = B[vi] + A[vi, vk]
