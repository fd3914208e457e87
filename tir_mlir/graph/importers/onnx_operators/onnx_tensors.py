"""Tensors of an ONNX file as arrays, refused where the file contradicts itself."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from tir_mlir.dialect.diagnostics import GraphError

if TYPE_CHECKING:
    import onnx

MOST_BYTES = 2**31
"""The most bytes of a tensor in a file of ONNX, and so of one that is computed at import."""
GREATEST_CONSTANT = 2**34
"""The most bytes of a tensor that is computed when the weights are."""
GREATEST_BYTES = 2**40
"""The most bytes of a tensor of a model."""
_EXPORT = "\n  fix: export the model again; the file is damaged"


def array_of(tensor: onnx.TensorProto) -> np.ndarray:
    """A TensorProto -> its array.

    Errors: GraphError where the element type is none of numbers, a size is negative, the data do not fill the shape, or
    a number does not fit the type.
    """
    import onnx

    kinds = onnx.TensorProto.DataType
    if tensor.data_type not in kinds.values() or tensor.data_type == onnx.TensorProto.UNDEFINED:
        raise GraphError(f"{_name(tensor)} has the element type {tensor.data_type}, which ONNX does not have{_EXPORT}")
    kind, shape = kinds.Name(tensor.data_type).lower(), tuple(tensor.dims)
    if kind == "string":
        raise GraphError(f"{_name(tensor)} is of strings, and graphs are of numbers\n  fix: leave the strings out")
    if any(size < 0 for size in shape):
        raise GraphError(f"{_name(tensor)} has the shape {shape}, and a size is not negative{_EXPORT}")
    _check_numbers(tensor, kind)
    try:
        return onnx.numpy_helper.to_array(tensor)
    except (OSError, TypeError, ValueError, onnx.checker.ValidationError) as error:
        raise GraphError(f"the data of {_name(tensor)} are not those of {shape} {kind}: {error}{_EXPORT}") from error


def dense_array(tensor: onnx.SparseTensorProto) -> np.ndarray:
    """A SparseTensorProto -> its array, 0 where it has no element. Errors: GraphError as of `array_of`."""
    values, shape = array_of(tensor.values), tuple(tensor.dims)
    positions = array_of(tensor.indices)
    check_bytes(shape, values.dtype)
    dense = np.zeros(shape, values.dtype)
    try:
        if positions.ndim == 1:
            dense.reshape(-1)[positions] = values
        else:
            dense[tuple(positions.T)] = values
    except IndexError as error:
        raise GraphError(f"{_name(tensor.values)} has an element outside of {shape}: {error}{_EXPORT}") from error
    return dense


def _check_numbers(tensor: onnx.TensorProto, kind: str) -> None:
    """Small integers are stored as int32 and could lose their upper bits."""
    if kind not in ("int8", "uint8", "int16", "uint16", "bool") or not tensor.int32_data:
        return
    least, greatest = (0, 1) if kind == "bool" else (np.iinfo(kind).min, np.iinfo(kind).max)
    wrong = next((number for number in tensor.int32_data if not least <= number <= greatest), None)
    if wrong is not None:
        raise GraphError(f"{_name(tensor)} is {kind} and has the element {wrong}: not in {least}..{greatest}{_EXPORT}")


def _name(tensor: onnx.TensorProto) -> str:
    return f"the tensor {tensor.name}" if tensor.name else "a tensor"


def bytes_of(shape: Sequence[object], dtype: str) -> int:
    """The bytes of a tensor, with 1 for each size that is not a number."""
    width = 1 if dtype == "bool" else int("".join(c for c in dtype if c.isdigit())) // 8
    return math.prod(size for size in shape if isinstance(size, int)) * width


def check_bytes(shape: tuple[int, ...], dtype: np.dtype | str) -> None:
    """Refuse a tensor that is computed at import, if it is larger than a file of ONNX can hold. Errors: GraphError."""
    size = math.prod(shape) * np.dtype(dtype).itemsize
    if size > MOST_BYTES:
        raise GraphError(
            f"a constant {shape} {np.dtype(dtype).name} takes {size} bytes, and at most {MOST_BYTES} are possible\n"
            "  fix: a smaller shape, or make the tensor an input of the model"
        )
