"""Element kinds (`f32`, `i8`, `index`, `ptr`), and conversion between arrays and interpreter numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from mlir import ir

from tir_mlir.dialect.diagnostics import NotInterpreted
from tir_mlir.interpreter.floats import ROUND, f16, f32
from tir_mlir.interpreter.memory import BYTES

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

    from tir_mlir.interpreter.poison import Number


_FLOATS = {ir.F64Type: "f64", ir.F32Type: "f32", ir.F16Type: "f16", ir.BF16Type: "bf16"}


def element_type(type_: ir.Type) -> ir.Type:
    return type_.element_type if isinstance(type_, (ir.VectorType, ir.MemRefType)) else type_


def kind_of(type_: ir.Type) -> str:
    """The kind of a scalar type, or of the elements of a vector or memref. Raises NotInterpreted."""
    type_ = element_type(type_)
    for cls, word in _FLOATS.items():
        if isinstance(type_, cls):
            return word
    if isinstance(type_, ir.IntegerType):
        if type_.is_signless:
            return f"i{type_.width}"
    elif isinstance(type_, ir.IndexType):
        return "index"
    elif str(type_).startswith("!llvm.ptr"):
        return "ptr"
    raise NotInterpreted(f"the interpreter does not support values of type {type_}")


def is_float(kind: str) -> bool:
    return kind in ROUND


def width(kind: str) -> int:
    """Bits of an integer; an index has 64."""
    return 64 if kind == "index" else int(kind[1:])


def size(kind: str) -> int:
    """Bytes of one element in memory."""
    return BYTES.get(kind) or -(-width(kind) // 8)


def numbers(array: np.ndarray, kind: str) -> list[Number]:
    """The elements of a flat array as interpreter numbers."""
    if kind == "bf16":
        bits = array if array.dtype == np.uint16 else array.view(np.uint16)
        return list((bits.astype(np.uint32) << 16).view(np.float32))
    if kind in ("f32", "f16"):
        return list(array)
    if array.dtype.kind == "u":  # an integer is held with its sign; the ops say what is unsigned
        return array.view(f"i{array.itemsize}").tolist()
    return array.tolist()


def array_of(scalars: list[Number], dtype: DTypeLike, kind: str) -> np.ndarray:
    """Interpreter numbers (exact ones are rounded) as a flat array."""
    if kind == "bf16":
        bits = (np.array([ROUND[kind](v) for v in scalars], np.float32).view(np.uint32) >> 16).astype(np.uint16)
        return bits if dtype == np.uint16 else bits.view(dtype)
    if is_float(kind):
        return np.array(scalars, np.float64 if kind == "f64" else {"f32": f32, "f16": f16}[kind]).astype(dtype)
    if kind == "i1":
        return np.array([bool(v) for v in scalars], bool)
    half, mask = 1 << width(kind) - 1, (1 << width(kind)) - 1
    signed = np.array([(int(v) + half & mask) - half for v in scalars], f"i{width(kind) // 8}")
    return signed.astype(dtype, copy=False)
