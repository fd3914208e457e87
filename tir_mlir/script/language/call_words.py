"""The words of the `T` namespace that call C functions, point into buffers, name values and keep bits."""

from __future__ import annotations

from typing import Any

from tir_mlir.script.language.markers import construct


@construct
def Let(expr: Any, where: Any) -> Any:
    """An expression with names for values in it: `T.Let(x * x, where={x: A[vi]})` after `x = T.float32()`."""


@construct
def meta_var(value: Any) -> Any:
    """A Python value while the program is parsed; the same as the value."""


@construct
def reinterpret(dtype: str, value: Any) -> Any:
    """The bits of a value as another type of the same width: `T.reinterpret("int32", x)`."""


@construct
def call_extern(dtype: str, name: str, *args: Any) -> Any:
    """Call a C function: `T.call_extern("int32", "tmm16", C.access_ptr("w"), ...)`.

    The older order `T.call_extern("tmm16", ..., dtype="int32")` is the same. Pointers, integers and floats are passed.
    """


@construct
def call_pure_extern(dtype: str, name: str, *args: Any) -> Any:
    """`T.call_extern` of a C function without effects: `T.call_pure_extern("float32", "sinf", x)`."""


@construct
def tvm_access_ptr(kind: Any, data: Any, offset: Any, extent: Any, mask: int, dtype: str = "handle") -> Any:
    """A pointer into a buffer, as `A.access_ptr` prints: mask 1 reads, 2 writes, 3 both."""


@construct
def type_annotation(dtype: str = "float32") -> Any:
    """The element type of an access pointer."""


@construct
def address_of(element: Any) -> Any:
    """A pointer to one element: `T.address_of(A[i, j])`."""


@construct
def likely(condition: Any) -> Any:
    """The condition itself; accepted for programs that carry the hint."""
