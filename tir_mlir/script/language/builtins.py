"""Builtins of the `T` namespace: let, bit casts, extern calls, access pointers, hints."""

from __future__ import annotations

from typing import Any

from tir_mlir.script.language.markers import construct


@construct
def Let(expr: Any, where: Any) -> Any:
    """A let expression: `T.Let(x * x, where={x: A[vi]})` after `x = T.float32()`."""


@construct
def meta_var(value: Any) -> Any:
    """A value of the Python program, evaluated at parse time; the identity."""


@construct
def reinterpret(dtype: str, value: Any) -> Any:
    """Bitcast to another type of the same width: `T.reinterpret("int32", x)`, also of an `int8x4`.

    The older order `T.reinterpret(x, dtype="int32")` is accepted.
    """


@construct
def ramp(base: Any, stride: int, lanes: int) -> Any:
    """The index of several elements: `A[T.ramp(i * 4, 2, 4)]` is the vector of A[i * 4], A[i * 4 + 2], ...

    With a stride of 1 or more it prints as a slice, `A[i * 4:i * 4 + 8:2]`.
    """


@construct
def broadcast(value: Any, lanes: int) -> Any:
    """A vector with a scalar in every lane: `T.broadcast(x, 16)`. Arithmetic on a vector and a scalar does it, too."""


@construct
def vectorlow(dtype: Any, vec: Any) -> Any:
    """The first half of the lanes of a vector: `T.vectorlow("float32x4", v)` of 8 lanes."""


@construct
def vectorhigh(dtype: Any, vec: Any) -> Any:
    """The second half of the lanes of a vector."""


@construct
def vectorcombine(dtype: Any, vec1: Any, vec2: Any) -> Any:
    """The lanes of two vectors, one after another."""


@construct
def vscale(target: Any = None) -> Any:
    """A constant: the scalable vector registers of a target in granules of 128 bits (SVE) or 64 bits (RISC-V).

    target: a `Target` or its name; default: this machine. 1 where the registers have a fixed length.
    """


@construct
def Shuffle(vectors: Any, indices: Any) -> Any:
    """The lanes of vectors, one after another, that the indices select: `T.Shuffle([a, b], [0, 2, 4, 6])`.

    One index gives a scalar: `T.Shuffle([v], [0])`.
    """


@construct
def llvm_lookup_intrinsic_id(name: str) -> Any:
    """The name of an intrinsic, where TVM has a number: `T.llvm_lookup_intrinsic_id("llvm.fma")`."""


@construct
def call_llvm_pure_intrin(dtype: str, name: Any, *args: Any) -> Any:
    """Call an intrinsic of LLVM on values: `T.call_llvm_pure_intrin("float32x4", "llvm.fma", a, b, c)`.

    The older order, with `T.uint32(3)` for the number of arguments after the name and `dtype=` at the end, is accepted.
    The types are those of LLVM's declaration; `build` checks them, and that the CPU has the instruction.
    """


@construct
def call(name: str, *args: Any, **named: Any) -> None:
    """Call another function of the module, which stores its results in buffers: `T.call("dense", A, W, C)`.

    Same as `Module.dense(A, W, C)` with the name of the class, or `cls`. Buffers are passed whole, or as regions
    (`A[0:4, :]`) to parameters with strides; numbers and sizes by value. The shapes bind the sizes of the function. A
    buffer that it writes shares no element with another that it takes, unless it has `tir.noalias = False`.
    """


@construct
def call_extern(dtype: str, name: str, *args: Any) -> Any:
    """Call a C function: `T.call_extern("int32", "tmm16", C.access_ptr("w"), ...)`.

    The older order `T.call_extern("tmm16", ..., dtype="int32")` is accepted. Arguments: pointers, integers, floats.
    """


@construct
def call_pure_extern(dtype: str, name: str, *args: Any) -> Any:
    """`T.call_extern` of a C function without side effects: `T.call_pure_extern("float32", "sinf", x)`."""


@construct
def tvm_access_ptr(kind: Any, data: Any, offset: Any, extent: Any, mask: int, dtype: str = "handle") -> Any:
    """The printed form of `A.access_ptr(mode)`; `mask`: 1 reads, 2 writes, 3 both."""


@construct
def type_annotation(dtype: str = "float32") -> Any:
    """The element type of an access pointer."""


@construct
def address_of(element: Any) -> Any:
    """A pointer to one element: `T.address_of(A[i, j])`."""


@construct
def tvm_load_matrix_sync(
    fragment: Any, m: int, n: int, k: int, index: Any, pointer: Any, stride: Any, layout: str
) -> None:
    """Load a matrix fragment: `T.tvm_load_matrix_sync(F.data, 16, 16, 16, 0, A.access_ptr("r"), 64, "row_major")`.

    An opaque call, as the other matrix functions: it is parsed, printed and scheduled by the regions of its block, and
    has no code for a CPU.
    """


@construct
def tvm_store_matrix_sync(
    fragment: Any, m: int, n: int, k: int, index: Any, pointer: Any, stride: Any, layout: str
) -> None:
    """Store a matrix fragment: `T.tvm_store_matrix_sync(F.data, 16, 16, 16, 0, C.access_ptr("w"), 64, "row_major")`."""


@construct
def tvm_fill_fragment(fragment: Any, m: int, n: int, k: int, index: Any, value: Any) -> None:
    """Fill a matrix fragment with a value: `T.tvm_fill_fragment(F.data, 16, 16, 16, 0, T.float32(0))`."""


@construct
def tvm_mma_sync(d: Any, d_index: Any, a: Any, a_index: Any, b: Any, b_index: Any, c: Any, c_index: Any) -> None:
    """d = a * b + c, of matrix fragments: `T.tvm_mma_sync(C.data, 0, A.data, 0, B.data, 0, C.data, 0)`."""


@construct
def likely(condition: Any) -> Any:
    """A branch hint; parsed as the condition itself."""


# TVM's aliases
Ramp, Broadcast = ramp, broadcast
