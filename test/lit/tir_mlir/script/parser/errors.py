# Wrong programs are refused at their line.
# RUN: tir-opt %s --split-input-file --verify-diagnostics

from tir_mlir.script import tir as T


@T.prim_func
def short_loop(A: T.Buffer((128,), "float32")):
    for i in range(127):
        with T.block("A"):
            # expected-error @below {{do not cover its domain (vi in [0, 128)): no iteration runs vi = 127}}
            vi = T.axis.spatial(128, i)
            A[vi] = T.float32(0)

# -----

from tir_mlir.script import tir as T


@T.prim_func
def long_loop(A: T.Buffer((128,), "float32")):
    for i in range(129):
        with T.block("A"):
            # expected-error @below {{iter vi has the domain [0, 128), but it is bound to 128 at i = 128}}
            vi = T.axis.spatial(128, i)
            A[vi] = T.float32(0)

# -----

from tir_mlir.script import tir as T


@T.prim_func
def index_count(A: T.Buffer((8, 8), "float32")):
    for i in range(8):
        with T.block("A"):
            vi = T.axis.spatial(8, i)
            A[vi] = T.float32(0)  # expected-error {{buffer A has 2 axes but 1 indices are given}}

# -----

from tir_mlir.script import tir as T


@T.prim_func
def unknown_name(A: T.Buffer((8,), "float32")):
    for i in range(8):
        with T.block("A"):
            vi = T.axis.spatial(8, i)
            A[vi] = B[vi]  # expected-error {{unknown name B}}

# -----

from tir_mlir.script import tir as T


@T.prim_func
def false_kind(A: T.Buffer((8, 8), "float32"), B: T.Buffer((8,), "float32")):
    for i, j in T.grid(8, 8):
        with T.block("B"):
            # expected-error @below {{iter vj of block "B" is declared spatial, but the iterations}}
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi] = B[vi] + A[vi, vj]

# -----

from tir_mlir.script import tir as T


@T.prim_func
def loop_variable(A: T.Buffer((8,), "float32")):
    for i in range(8):
        with T.block("A"):
            vi = T.axis.spatial(8, i)
            A[i] = T.float32(0)  # expected-error {{loop variable i is used inside a block that has iters}}

# -----

from tir_mlir.script import tir as T


@T.prim_func
def bounds(A: T.Buffer((8,), "float32")):
    for i in range(8):
        with T.block("A"):
            vi = T.axis.spatial(8, i)
            A[vi] = A[vi + 1]  # expected-error {{A is read at index 8}}

# -----

from tir_mlir.script import tir as T


@T.prim_func
def regions(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
    for i in range(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            T.reads()  # expected-error {{T.reads leaves out A}}
            B[vi] = A[vi]

# -----

from tir_mlir.script import tir as T


@T.prim_func
def types(A: T.Buffer((8,), "float16"), B: T.Buffer((8,), "float32")):
    for i in range(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = A[vi]  # expected-error {{buffer B holds float32 but the value has type float16}}

# -----

from tir_mlir.script import tir as T


@T.prim_func
def statement(A: T.Buffer((8,), "float32")):
    while True:  # expected-error {{the condition of this while is constant: the loop runs forever}}
        pass

# -----

from tir_mlir.script import tir as T


@T.prim_func
def stop(A: T.Buffer((8,), "float32")):
    for i in range(8):
        breakpoint()  # expected-error {{breakpoint() must be directly in a block}}
        with T.block("A"):
            vi = T.axis.spatial(8, i)
            A[vi] = T.float32(0)

# -----

from tir_mlir.script import tir as T


@T.prim_func
def syntax(A: T.Buffer((8,), "float32"):  # expected-error {{not Python}}
    pass
