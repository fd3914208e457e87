"""Tensors with some elements replaced, at positions that are data."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tir_mlir import te
from tir_mlir.topi.broadcast import broadcast_shape, read
from tir_mlir.topi.indexing import indices_of
from tir_mlir.topi.operands import axis_of, describe_tensor, extent, integer, one_of, one_type, refuse, tensor
from tir_mlir.topi.sizes import Size, are_equal, ceil_quotient, number, simple

__all__ = ["index_put", "scatter_elements", "scatter_nd", "slice_scatter"]

COMBINE: dict[str, Callable[[Any, Any], Any]] = {
    "update": lambda old, new: new,
    "add": lambda old, new: old + new,
    "mul": lambda old, new: old * new,
    "min": te.min,
    "max": te.max,
}


def _normalize_index(index: Any, size: Size) -> tuple[Any, Any]:
    """An index that is data, with negative ones from the end, and whether it is within the axis."""
    wrapped = index.astype("int32") if index.dtype != "int32" else index
    wrapped = te.Select(wrapped < 0, wrapped + size, wrapped)
    return wrapped, te.all(wrapped >= 0, wrapped < size)


def scatter_elements(data: Any, indices: Any, updates: Any, axis: int = 0, reduction: str = "update") -> te.Tensor:
    """A copy of the data with result[indices[i, j], j] = updates[i, j], for axis 0; in row-major order: the last
    remains.

    reduction: "update", or "add", "mul", "min", "max" with the old element. Indices beyond the axis write nothing;
    negative ones count from the end. updates: of the shape of the indices.
    """
    op = "scatter_elements"
    x, positions, new = tensor(op, "data", data), indices_of(op, indices), tensor(op, "updates", updates)
    one_type(op, data=x, updates=new)
    one_of(op, "reduction", reduction, list(COMBINE))
    d = axis_of(op, axis, x.ndim)
    if positions.ndim != x.ndim or new.ndim != x.ndim or not all(map(are_equal, positions.shape, new.shape)):
        problem = (
            f"{describe_tensor('data', x)}, {describe_tensor('indices', positions)}, {describe_tensor('updates', new)}"
        )
        raise refuse(op, problem, "pass indices and updates of one shape, with as many axes as the data")

    def element(*i: Any) -> Any:
        index, in_bounds = _normalize_index(positions(*i), x.shape[d])
        return (*i[:d], index, *i[d + 1 :]), lambda old: COMBINE[reduction](old, new(*i)), in_bounds

    return te.update(x, positions.shape, element, name="T_scatter_elements")


def scatter_nd(data: Any, indices: Any, updates: Any, mode: str = "update") -> te.Tensor:
    """A copy of the data with result[indices[i]] = updates[i]: the last axis of the indices holds positions along the
    first axes of the data. In order: the last remains. mode: as the reduction of `scatter_elements`."""
    op = "scatter_nd"
    x, positions, new = tensor(op, "data", data), indices_of(op, indices), tensor(op, "updates", updates)
    one_of(op, "mode", mode, list(COMBINE))
    depth = number(positions.shape[-1]) if positions.ndim else None
    if depth is None or depth > x.ndim:
        problem = f"{describe_tensor('data', x)} and {describe_tensor('indices', positions)}"
        raise refuse(op, problem, "the last axis of the indices is at most as long as the data has axes")
    coordinates = [lambda i, n=n: positions(*i, n) for n in range(depth)]
    return _scatter_at(op, x, positions.shape[:-1], coordinates, new, mode)


def index_put(data: Any, indices: Any, values: Any, accumulate: bool = False, axis: int = 0) -> te.Tensor:
    """A copy of the data with result[:, i0, i1, ...] = values: a tensor of indices for each axis from `axis` on, which
    broadcast, as does `values`. accumulate: values are added. The update of a key/value cache at a position."""
    op = "index_put"
    x, new = tensor(op, "data", data), tensor(op, "values", values)
    index_tensors = [indices_of(op, i) for i in (indices if isinstance(indices, (tuple, list)) else [indices])]
    if not 0 < len(index_tensors) <= x.ndim - axis:
        raise refuse(
            op,
            f"{len(index_tensors)} tensors of indices for {describe_tensor('data', x)}",
            "pass one for each first axis",
        )
    outer = broadcast_shape(op, *(i.shape for i in index_tensors))
    coordinates = [lambda i, g=g: read(g, i, outer) for g in index_tensors]
    return _scatter_at(op, x, outer, coordinates, new, "add" if accumulate else "update", axis)


def _scatter_at(
    op: str, x: te.Tensor, outer: Sequence[Size], coordinates: Sequence[Any], new: te.Tensor, mode: str, axis: int = 0
) -> te.Tensor:
    """`result[lead, place0(i), place1(i), rest] = new[lead, i, rest]` for the points i of `outer`; `new` broadcasts.
    axis: of the first position, behind the axes of `lead`."""
    one_type(op, data=x, updates=new)
    shape, end = (*x.shape[:axis], *outer, *x.shape[axis + len(coordinates) :]), axis + len(outer)
    if new.ndim > len(shape) or not all(map(are_equal, broadcast_shape(op, new.shape, shape), shape)):
        problem = f"{describe_tensor('updates', new)} for {describe_tensor('data', x)}"
        raise refuse(op, problem, "pass updates of the shape of the indices, followed by the axes that have none")

    def element(*i: Any) -> Any:
        sizes = x.shape[axis : axis + len(coordinates)]
        wrapped = [_normalize_index(index_at(i[axis:end]), n) for index_at, n in zip(coordinates, sizes, strict=True)]
        index = (*i[:axis], *(position for position, _ in wrapped), *i[end:])
        return (
            index,
            lambda old: COMBINE[mode](old, read(new, i, shape)),
            te.all(*(in_bounds for _, in_bounds in wrapped)),
        )

    return te.update(x, shape, element, ordered=end, name=f"T_{op}")


def slice_scatter(data: Any, src: Any, start: Any = 0, end: Any = None, step: int = 1, axis: int = 0) -> te.Tensor:
    """A copy of the data with result[start:end:step] = src along an axis. start, end: numbers or sizes."""
    op = "slice_scatter"
    x, new = tensor(op, "data", data), tensor(op, "src", src)
    one_type(op, data=x, src=new)
    d, step = axis_of(op, axis, x.ndim), integer(op, "step", step, 1)
    size = x.shape[d]
    first, last = (_slice_bound(op, v, size, default) for v, default in ((start, 0), (end, size)))
    slice_shape = (*x.shape[:d], ceil_quotient(simple(last - first), step), *x.shape[d + 1 :])
    if new.ndim != x.ndim or not all(map(are_equal, new.shape, slice_shape)):
        problem = f"{describe_tensor('src', new)} for {first}:{last}:{step} of axis {d} of {describe_tensor('data', x)}"
        raise refuse(op, problem, "pass a src of the shape of that slice")
    return te.update(
        x,
        new.shape,
        lambda *i: ((*i[:d], i[d] * step + first, *i[d + 1 :]), new(*i)),
        ordered=0,
        name="T_slice_scatter",
    )


def _slice_bound(op: str, value: Any, size: Size, default: Size) -> Size:
    if value is None:
        return default
    bound = extent(op, value)
    if not isinstance(bound, int):
        return bound
    if isinstance(size, int):
        return max(0, min(size, bound + size if bound < 0 else bound))
    return simple(size + bound) if bound < 0 else size if bound >= 1 << 30 else bound
