"""Operators that move elements: shapes, orders, parts, positions that are data."""

from __future__ import annotations

from typing import Any

from tir_mlir import topi
from tir_mlir.graph.operators.operator import Operator, row_wise, view


def _reshape(x: Any, shape: Any) -> Any:
    """The elements in row-major order in another shape; -1: what is left, 0: the size of the input."""
    return topi.reshape(x, shape)


def _flatten(x: Any) -> Any:
    """The elements in row-major order as a vector."""
    return topi.reshape(x, (-1,))


def _expand_dims(x: Any, axis: Any) -> Any:
    """New axes of size 1, at positions of the result."""
    return topi.expand_dims(x, axis)


def _flip(x: Any, axis: Any) -> Any:
    """The elements in reverse order along one or several axes."""
    return topi.flip(x, axis)


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
    view("reshape", _reshape, num_inputs=1),
    view("flatten", _flatten),
    view("expand_dims", _expand_dims, num_inputs=1),
    view("squeeze", topi.squeeze),
    Operator("permute_dims", _permute_dims, linalg="linalg.transpose"),
    Operator("broadcast_to", topi.broadcast_to, num_inputs=1),
    Operator("concat", _concat),
    Operator("stack", _stack),
    Operator("split", topi.split, num_inputs=1),
    Operator("tile", _tile, num_inputs=1),
    Operator("repeat", _repeat, num_inputs=1),
    Operator("flip", _flip, num_inputs=1),
    Operator("roll", topi.roll, num_inputs=1),
    Operator("strided_slice", _strided_slice, num_inputs=1),
    Operator("take", _take),
    Operator("gather_elements", _gather_elements),
    Operator("gather_nd", topi.gather_nd),
    Operator("index_tensor", topi.index_tensor),
    Operator("one_hot", _one_hot),
    Operator("scatter_elements", topi.scatter_elements),
    Operator("scatter_nd", topi.scatter_nd),
    Operator("index_put", _index_put),
    Operator("slice_scatter", topi.slice_scatter),
    row_wise("argsort", topi.argsort),
    row_wise("sort", topi.sort),
    Operator("topk", topi.topk),
]
