"""Operators that move elements: shapes, orders, parts, positions that are data."""

from __future__ import annotations

from collections.abc import Sequence

from tir_mlir import te, topi
from tir_mlir.graph.operators import array_rules as rules
from tir_mlir.graph.operators.operator import Operator, OperatorKind, row_wise, view
from tir_mlir.schedules.products.packing import WeightPanels
from tir_mlir.topi.sizes import number


def _reshape(x: te.Tensor, shape: Sequence[te.Expr | int]) -> te.Tensor:
    """The elements in row-major order in another shape; -1: what is left, 0: the size of the input."""
    return topi.reshape(x, shape)


def _flatten(x: te.Tensor) -> te.Tensor:
    """The elements in row-major order as a vector."""
    return topi.reshape(x, (-1,))


def _expand_dims(x: te.Tensor, axis: int | Sequence[int]) -> te.Tensor:
    """New axes of size 1, at positions of the result."""
    return topi.expand_dims(x, axis)


def _flip(x: te.Tensor, axis: int | Sequence[int]) -> te.Tensor:
    """The elements in reverse order along one or several axes."""
    return topi.flip(x, axis)


def _permute_dims(x: te.Tensor, axes: Sequence[int] | None = None) -> te.Tensor:
    """Axes in another order: axis i of the result is axis axes[i] of x; default reversed."""
    return topi.transpose(x, axes)


def _concat(*tensors: te.Tensor, axis: int = 0) -> te.Tensor:
    """Tensors one after the other along an axis."""
    return topi.concatenate(tensors, axis)


def _stack(*tensors: te.Tensor, axis: int = 0) -> te.Tensor:
    """Tensors of one shape along a new axis."""
    return topi.stack(tensors, axis)


def _tile(x: te.Tensor, repeats: Sequence[int]) -> te.Tensor:
    """The whole tensor repeated repeats[i] times along axis i."""
    return topi.tile(x, repeats)


def _repeat(x: te.Tensor, repeats: int, axis: int | None = None) -> te.Tensor:
    """Each element repeated along an axis; axis None: of the vector of all."""
    return topi.repeat(_flatten(x), repeats, 0) if axis is None else topi.repeat(x, repeats, axis)


def _strided_slice(
    x: te.Tensor,
    axes: Sequence[int],
    begin: Sequence[te.Expr | int],
    end: Sequence[te.Expr | int],
    strides: Sequence[int] | None = None,
    assume_inbound: bool = False,
) -> te.Tensor:
    """begin:end:stride along axes, as slices of Python."""
    del assume_inbound  # what is not within bounds is refused, or limited to them
    return topi.strided_slice(x, begin, end, strides, axes)


def _first_rows(x: te.Tensor, count: te.Tensor, rows: te.Expr, least: int = 0) -> te.Tensor:
    """The first `count` slices of axis 0; `rows` is a new name for their number, which becomes a size of the graph.
    It is limited to `least` and the size of that axis. The result lies where x does."""
    if least < 0 or (isinstance(x.shape[0] if x.shape else None, int) and least > x.shape[0]):
        raise ValueError(f"least={least}; fix: a number from 0 to that of the rows")
    if count.shape or count.dtype != "int64":
        raise ValueError(f"the number of rows is an int64 of no dimensions, not {count.dtype}{list(count.shape)}")
    if not x.shape:
        raise ValueError("a tensor without axes has no rows")
    return te.compute((rows, *x.shape[1:]), lambda *index: x(*index), name="T_first_rows")


def _take(x: te.Tensor, indices: te.Tensor, axis: int | None = None, mode: str = "fast") -> te.Tensor:
    """The slices of an axis at the indices, as an embedding; indices beyond it are limited to it ("wrap": modulo)."""
    return topi.take(x, indices, axis, mode=mode)


def _gather_elements(data: te.Tensor, indices: te.Tensor, axis: int = 0) -> te.Tensor:
    """data[indices[i, j], j] for axis 0."""
    return topi.gather(data, axis, indices)


def _index_put(data: te.Tensor, *tensors: te.Tensor, accumulate: bool = False, axis: int = 0) -> te.Tensor:
    """data with data[:, i0, i1] = values. The operands are data, indices for its axes from `axis` on, and values."""
    return topi.index_put(data, tensors[:-1], tensors[-1], accumulate, axis)


def _one_hot(
    indices: te.Tensor, *values: te.Tensor, depth: te.Expr | int, axis: int = -1, dtype: str = "float32"
) -> te.Tensor:
    """A new axis: 1, or the first of the values, where its index is the element of indices, else 0 or the second."""
    if not values:
        return topi.one_hot(indices, 1, 0, depth, axis, dtype)
    on, off = (topi.broadcast_to(v, ()) for v in values)
    hot = topi.one_hot(indices, True, False, depth, axis, "bool")
    return topi.where(hot, on, off)


def _pack_panels(x: te.Tensor, along: int, inner: Sequence[int], width: int, group: int = 1) -> te.Tensor:
    """A weight in panels of `width` along one axis, with zeros after the last row, as `schedules.WeightPanels` says.
    inner: the order of the other axes; group: adjacent elements that remain so."""
    panels = WeightPanels("", tuple(number(n) or 0 for n in x.shape), x.dtype, along, tuple(inner), width, group)
    rows = panels.source[along]

    def element(*axes: te.Var) -> te.Expr:
        row, indices = axes[0] * width + axes[-1], dict(zip(panels.inner, axes[1:-1], strict=True))
        value = x(*(row if d == along else indices[d] for d in range(len(panels.source))))
        return value if rows % width == 0 else te.if_then_else(row < rows, value, te.cast(0, x.dtype))

    def grouped_element(*axes: te.Var) -> te.Expr:
        *batch, p, k, lane, term = axes
        indices = {along: p * width + lane, **dict(zip(panels.inner, [*batch, k * group + term], strict=True))}
        return x(*(indices[d] for d in range(len(panels.source))))

    return te.compute(panels.shape, grouped_element if group > 1 else element, name="T_panels")


OPERATORS = [
    view("reshape", _reshape, num_inputs=1),
    view("flatten", _flatten),
    view("expand_dims", _expand_dims, num_inputs=1),
    view("squeeze", topi.squeeze),
    Operator("permute_dims", _permute_dims, linalg="linalg.transpose", arrays=rules.PERMUTE),
    Operator("broadcast_to", topi.broadcast_to, num_inputs=1, arrays=rules.BROADCAST),
    Operator("concat", _concat, arrays=rules.CONCATENATE),
    Operator("stack", _stack, arrays=rules.STACK),
    Operator("split", topi.split, num_inputs=1, arrays=rules.SPLIT),
    Operator("tile", _tile, num_inputs=1, arrays=rules.TILE),
    Operator("repeat", _repeat, num_inputs=1, arrays=rules.REPEAT),
    Operator("flip", _flip, num_inputs=1, arrays=rules.FLIP),
    Operator("roll", topi.roll, num_inputs=1),
    Operator("strided_slice", _strided_slice, num_inputs=1, arrays=rules.SLICE),
    Operator("first_rows", _first_rows, kind=OperatorKind.COUNTED, num_inputs=2),
    Operator("take", _take, arrays=rules.TAKE),
    Operator("gather_elements", _gather_elements),
    Operator("gather_nd", topi.gather_nd),
    Operator("index_tensor", topi.index_tensor, arrays=rules.GATHER),
    Operator("one_hot", _one_hot),
    Operator("scatter_elements", topi.scatter_elements),
    Operator("scatter_nd", topi.scatter_nd),
    Operator("index_put", _index_put),
    Operator("slice_scatter", topi.slice_scatter),
    Operator("pack_panels", _pack_panels, num_inputs=1, arrays=rules.PANELS),
    row_wise("argsort", topi.argsort),
    row_wise("sort", topi.sort),
    Operator("topk", topi.topk),
    Operator("search_sorted", topi.search_sorted),
    Operator("true_places", topi.true_places),
    Operator("fft", topi.fft),
    Operator("rfft", topi.rfft, num_inputs=2),
    Operator("irfft", topi.irfft),
    Operator("diagonal", topi.diagonal),
    Operator("sliding_windows", topi.sliding_windows, num_inputs=1),
    Operator("as_strided", topi.as_strided, num_inputs=1),
]
