"""Operators that move elements: shapes, orders, parts, positions that are data."""

from __future__ import annotations

from typing import Any

from tir_mlir import topi
from tir_mlir.graph.operators.operator import REQUIRED, Operator


def _reshape(x: Any, shape: Any) -> Any:
    return topi.reshape(x, shape)


def _flatten(x: Any) -> Any:
    return topi.reshape(x, (-1,))


def _permute_dims(x: Any, axes: Any = None) -> Any:
    return topi.transpose(x, axes)


def _concat(*tensors: Any, axis: int = 0) -> Any:
    return topi.concatenate(tensors, axis)


def _stack(*tensors: Any, axis: int = 0) -> Any:
    return topi.stack(tensors, axis)


def _tile(x: Any, repeats: Any) -> Any:
    return topi.tile(x, repeats)


def _repeat(x: Any, repeats: int, axis: int | None = None) -> Any:
    return topi.repeat(_flatten(x), repeats, 0) if axis is None else topi.repeat(x, repeats, axis)


def _strided_slice(x: Any, axes: Any, begin: Any, end: Any, strides: Any = None, assume_inbound: bool = False) -> Any:
    del assume_inbound  # what is not within bounds is refused, or limited to them
    return topi.strided_slice(x, begin, end, strides, axes)


def _take(x: Any, indices: Any, axis: int | None = None, mode: str = "fast") -> Any:
    return topi.take(x, indices, axis, mode=mode)


def _gather_elements(data: Any, indices: Any, axis: int = 0) -> Any:
    return topi.gather(data, axis, indices)


def _one_hot(indices: Any, *values: Any, depth: Any, axis: int = -1, dtype: str = "float32") -> Any:
    if not values:
        return topi.one_hot(indices, 1, 0, depth, axis, dtype)
    on, off = (topi.broadcast_to(v, ()) for v in values)
    hot = topi.one_hot(indices, True, False, depth, axis, "bool")
    return topi.where(hot, on, off)


OPERATORS = [
    Operator("reshape", _reshape, {"shape": REQUIRED}),
    Operator("flatten", _flatten, {}),
    Operator("expand_dims", topi.expand_dims, {"axis": REQUIRED}),
    Operator("squeeze", topi.squeeze, {"axis": None}),
    Operator("permute_dims", _permute_dims, {"axes": None}, "linalg.transpose"),
    Operator("broadcast_to", topi.broadcast_to, {"shape": REQUIRED}),
    Operator("concat", _concat, {"axis": 0}),
    Operator("stack", _stack, {"axis": 0}),
    Operator("split", topi.split, {"indices_or_sections": REQUIRED, "axis": 0}),
    Operator("tile", _tile, {"repeats": REQUIRED}),
    Operator("repeat", _repeat, {"repeats": REQUIRED, "axis": None}),
    Operator("flip", topi.flip, {"axis": REQUIRED}),
    Operator("roll", topi.roll, {"shift": REQUIRED, "axis": REQUIRED}),
    Operator(
        "strided_slice",
        _strided_slice,
        {"axes": REQUIRED, "begin": REQUIRED, "end": REQUIRED, "strides": None, "assume_inbound": False},
    ),
    Operator("take", _take, {"axis": None, "mode": "fast"}),
    Operator("gather_elements", _gather_elements, {"axis": 0}),
    Operator("gather_nd", topi.gather_nd, {"batch_dims": 0}),
    Operator("index_tensor", topi.index_tensor, {}),
    Operator("one_hot", _one_hot, {"depth": REQUIRED, "axis": -1, "dtype": "float32"}),
]
