"""Operators that move elements: shapes, orders, parts, positions that are data."""

from __future__ import annotations

from typing import Any

from tir_mlir import topi
from tir_mlir.graph.operators.operator import REQUIRED, Operator


def _reshape(x: Any, shape: Any) -> Any:
    """The elements in row-major order in another shape; -1: what is left, 0: the size of the input."""
    return topi.reshape(x, shape)


def _flatten(x: Any) -> Any:
    """The elements in row-major order as a vector."""
    return topi.reshape(x, (-1,))


def _permute_dims(x: Any, axes: Any = None) -> Any:
    """Axes in another order: axis i of the result is axis axes[i] of x; default reversed."""
    return topi.transpose(x, axes)


def _concat(*tensors: Any, axis: int = 0) -> Any:
    """Tensors one after the other along an axis."""
    return topi.concatenate(tensors, axis)


def _stack(*tensors: Any, axis: int = 0) -> Any:
    """Tensors of one shape along a new axis."""
    return topi.stack(tensors, axis)


def _tile(x: Any, repeats: Any) -> Any:
    """The whole tensor repeated repeats[i] times along axis i."""
    return topi.tile(x, repeats)


def _repeat(x: Any, repeats: int, axis: int | None = None) -> Any:
    """Each element repeated along an axis; axis None: of the vector of all."""
    return topi.repeat(_flatten(x), repeats, 0) if axis is None else topi.repeat(x, repeats, axis)


def _strided_slice(x: Any, axes: Any, begin: Any, end: Any, strides: Any = None, assume_inbound: bool = False) -> Any:
    """begin:end:stride along axes, as slices of Python."""
    del assume_inbound  # what is not within bounds is refused, or limited to them
    return topi.strided_slice(x, begin, end, strides, axes)


def _take(x: Any, indices: Any, axis: int | None = None, mode: str = "fast") -> Any:
    """The slices of an axis at the indices, as an embedding; indices beyond it are limited to it ("wrap": modulo)."""
    return topi.take(x, indices, axis, mode=mode)


def _gather_elements(data: Any, indices: Any, axis: int = 0) -> Any:
    """data[indices[i, j], j] for axis 0."""
    return topi.gather(data, axis, indices)


def _index_put(data: Any, *tensors: Any, accumulate: bool = False) -> Any:
    """data with data[i0, i1, ..] = values. The operands are data, indices for each of its first axes, and values."""
    return topi.index_put(data, tensors[:-1], tensors[-1], accumulate)


def _one_hot(indices: Any, *values: Any, depth: Any, axis: int = -1, dtype: str = "float32") -> Any:
    """A new axis: 1, or the first of the values, where its index is the element of indices, else 0 or the second."""
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
    Operator("scatter_elements", topi.scatter_elements, {"axis": 0, "reduction": "update"}),
    Operator("scatter_nd", topi.scatter_nd, {"mode": "update"}),
    Operator("index_put", _index_put, {"accumulate": False}),
    Operator("slice_scatter", topi.slice_scatter, {"start": 0, "end": None, "step": 1, "axis": 0}),
    Operator("argsort", topi.argsort, {"axis": -1, "descending": False, "dtype": "int32"}),
    Operator("sort", topi.sort, {"axis": -1, "descending": False}),
    Operator(
        "topk",
        topi.topk,
        {"k": 1, "axis": -1, "ret_type": "both", "largest": True, "dtype": "int32"},
    ),
]
