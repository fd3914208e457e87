"""Constants of many elements: NumPy arrays <-> dense attributes. The only module that reads and writes their elements.

The bindings read a splat of i1 past its end, and refuse bfloat16.
"""

from __future__ import annotations

import re
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
from mlir import ir

from tir_mlir.dialect.diagnostics import TirError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


_ONES = {1: "bool", 8: "int8", 16: "int16", 32: "int32", 64: "int64"}
_FLOATS = {ir.F64Type: "float64", ir.F32Type: "float32", ir.F16Type: "float16", ir.BF16Type: "uint16"}


def dense_attr(array: ArrayLike, type_: ir.Type | None = None) -> ir.Attribute:
    """An array -> a dense attribute. type_: a vector type, or the element type of a tensor; default: that of the dtype.
    bfloat16 is given as its bits, and unsigned integers become the signless ones of their width."""
    bits: Any = np.asarray(array, order="C")
    get: Any = ir.DenseElementsAttr.get
    if isinstance(type_, ir.VectorType):
        return get(bits, type=type_)
    shape = list(bits.shape)
    if bits.dtype == bool:
        type_, bits = ir.IntegerType.get_signless(1), np.packbits(bits, axis=None, bitorder="little")
    elif bits.dtype.kind == "u" and not isinstance(type_, ir.BF16Type):
        bits = bits.view(f"i{bits.itemsize}")
    elif bits.dtype.name == "bfloat16":
        type_, bits = ir.BF16Type.get(), bits.view(np.uint16)
    return get(bits, type=type_, shape=shape)


def is_dense(attribute: ir.Attribute) -> bool:
    """Whether an attribute is dense: its elements stand in the program."""
    return isinstance(attribute.maybe_downcast(), ir.DenseElementsAttr)


def splat_of(attribute: ir.Attribute) -> ir.Attribute | None:
    """The element that a dense attribute has everywhere; None if they differ, or for another attribute."""
    attribute = attribute.maybe_downcast()
    if isinstance(attribute, ir.DenseElementsAttr) and attribute.is_splat:
        return attribute.get_splat_value()
    return None


def dense_array(attribute: ir.Attribute) -> np.ndarray:
    """The elements of a dense attribute, as an array that may be written to; bfloat16 as its bits.
    Errors: TirError for an element type that NumPy does not have."""
    dense = ir.DenseElementsAttr(attribute).maybe_downcast()
    type_ = ir.ShapedType(dense.type)
    dtype, shape = array_dtype(type_.element_type), tuple(type_.shape)
    if not prod(shape):
        return np.empty(shape, dtype)
    if isinstance(type_.element_type, ir.BF16Type):
        array = _bf16_bits(str(dense))
    elif dtype == "bool" and (splat := splat_of(dense)) is not None:
        array = np.array([ir.BoolAttr(splat).value])
    else:
        array = np.array(dense)
    return np.broadcast_to(array.reshape(() if array.size == 1 else shape), shape).astype(dtype)


def dense_numbers(attribute: ir.Attribute) -> list[bool | int | float]:
    """The elements of a dense attribute as Python numbers, in row-major order."""
    array = dense_array(attribute).reshape(-1)
    if isinstance(ir.ShapedType(attribute.type).element_type, ir.BF16Type):  # type: ignore[attr-defined]
        array = (array.astype(np.uint32) << np.uint32(16)).view(np.float32)
    return array.tolist()


def _bf16_bits(text: str) -> np.ndarray:
    """The elements of a printed attribute: all in hexadecimal digits if there are many, else numbers, whose digits
    suffice, and the bits of NaN and infinities."""
    elements = text[text.index("<") + 1 : text.rindex("> :")]
    if elements.startswith('"0x'):
        return np.frombuffer(bytes.fromhex(elements[3:-1]), np.uint16)
    words = re.findall(r"[^\s,\[\]]+", elements)
    if any(word.startswith("0x") for word in words):
        return np.array([int(w, 16) if w.startswith("0x") else _bf16_bits(f"<{w}> :")[0] for w in words], np.uint16)
    return (np.array(words, np.float32).view(np.uint32) + np.uint32(1 << 15) >> np.uint32(16)).astype(np.uint16)


def array_dtype(element: ir.Type) -> str:
    """The dtype of an array with the elements of a type. Errors: TirError for a type that NumPy does not have."""
    for type_, name in _FLOATS.items():
        if isinstance(element, type_):
            return name
    if isinstance(element, ir.IndexType):
        return "int64"
    if isinstance(element, ir.IntegerType) and element.width in _ONES:
        return ("u" if element.is_unsigned else "") + _ONES[element.width]
    raise TirError(f"constants of {element} are not supported; fix: one of float16 to float64, bfloat16, int8 to int64")
