"""Elements taken and written by position: slices, and positions that are data."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from tir_mlir import te
from tir_mlir.dialect.diagnostics import short_repr
from tir_mlir.te.tensor import Update
from tir_mlir.topi.broadcast import broadcast_shape, read
from tir_mlir.topi.operands import (
    Elements,
    Ints,
    axes_of,
    axis_of,
    describe_tensor,
    extent,
    integer,
    is_float,
    one_of,
    one_type,
    refuse,
    tensor,
)
from tir_mlir.topi.shapes import reshape
from tir_mlir.topi.sizes import are_equal, ceil_quotient, number, simple

COMBINE: dict[str, Callable[[te.Expr, te.Expr], te.Expr]] = {
    "update": lambda old, new: new,
    "add": lambda old, new: old + new,
    "mul": lambda old, new: old * new,
    "min": te.min,
    "max": te.max,
}
__all__ = [
    "flip", "gather", "gather_nd", "index_put", "index_tensor", "roll", "scatter_elements", "scatter_nd",
    "slice_scatter", "strided_slice", "take",
]  # fmt: skip
Bounds: TypeAlias = te.Size | Sequence[te.Size | None] | None
"""Where a slice begins or ends, along one axis or several; None: at the end of the axis."""
END = 1 << 30
"""An end at least as large as this is that of the axis."""


def strided_slice(
    a: te.Tensor,
    begin: Bounds,
    end: Bounds,
    strides: Ints | None = None,
    axes: Sequence[int] | None = None,
    slice_mode: str = "end",
) -> te.Tensor:
    """begin:end:stride along some axes, as slices of Python: negative positions count from the end, numbers beyond the
    axis are limited to it.

    axes: default the first ones; strides: default 1. Of a symbolic size, an end is below it, or -n, or a huge number
    for the end of the axis. slice_mode: only "end".
    """
    x = tensor("strided_slice", "a", a)
    one_of("strided_slice", "slice_mode", slice_mode, ["end"])
    begins, ends = _as_list(begin), _as_list(end)
    chosen = tuple(range(len(begins))) if axes is None else axes_of("strided_slice", axes, x.ndim, "axes")
    steps = [1] * len(chosen) if strides is None else _as_list(strides)
    steps = steps * len(chosen) if len(steps) == 1 else steps
    if not len(begins) == len(ends) == len(steps) == len(chosen) <= x.ndim:
        counts = f"{len(begins)} begins, {len(ends)} ends and {len(steps)} strides for {len(chosen)} axes"
        raise refuse("strided_slice", f"{counts} of {describe_tensor('a', x)}", "pass one of each for each axis")
    shape, starts, by = list(x.shape), {}, {}
    for dim, first, last, step in zip(chosen, begins, ends, steps, strict=True):
        by[dim] = integer("strided_slice", "strides", step)
        starts[dim], shape[dim] = _slice(x, dim, first, last, by[dim])

    def element(*i: te.Expr) -> te.Expr:
        return x(*(i[a] if a not in starts else i[a] * by[a] + starts[a] for a in range(x.ndim)))

    return te.compute(tuple(shape), element, name="T_strided_slice")


def _as_list(bounds: Bounds) -> list[te.Size | None]:
    return list(bounds) if isinstance(bounds, Sequence) else [bounds]


def _slice(x: te.Tensor, dim: int, first: te.Size | None, last: te.Size | None, step: int) -> tuple[te.Size, te.Size]:
    """The start and the number of elements of a slice of one axis."""
    size = x.shape[dim]
    if step == 0:
        raise refuse("strided_slice", f"a stride of 0 at axis {dim}", "use a positive or negative number")
    plain = [v for v in (first, last) if v is None or isinstance(v, int)]
    if isinstance(size, int) and len(plain) == 2:
        span = range(size)[plain[0] : plain[1] : step]
        return span.start, len(span)
    if step < 0:
        problem = f"a negative stride at axis {dim} of {describe_tensor('a', x)}, whose size is symbolic"
        raise refuse("strided_slice", problem, "flip the axis, then slice it with a positive stride")
    begin = _position(first, size, 0)
    end = _position(last, size, size)
    count = simple(end - begin)
    if isinstance(count, int) and count < 0:
        count = 0
    return begin, ceil_quotient(count, step) if step > 1 else count


def _position(value: te.Size | None, size: te.Size, default: te.Size) -> te.Size:
    if value is None:
        return default
    bound = extent("strided_slice", value)
    if isinstance(bound, int):
        return size if bound >= END else simple(size + bound) if bound < 0 else bound
    return bound


def flip(a: te.Tensor, axis: Ints = 0) -> te.Tensor:
    """The elements in reverse order along an axis, or along each of several: `flip(x)[i, j]` is `x[m - 1 - i, j]`. An
    axis may be counted from the end (-1 is the last).
    """
    x = tensor("flip", "a", a)
    axes = axes_of("flip", axis, x.ndim)
    last = {dim: simple(x.shape[dim] - 1) for dim in axes}
    return te.compute(x.shape, lambda *i: x(*(last[d] - v if d in last else v for d, v in enumerate(i))), name="T_flip")


def roll(a: te.Tensor, shift: Sequence[int] | int, axis: Ints) -> te.Tensor:
    """The elements moved by `shift` positions along axes; those that leave at the end come in at the start."""
    x = tensor("roll", "a", a)
    axes = axes_of("roll", axis, x.ndim)
    by = shift if isinstance(shift, (tuple, list)) else (shift,) * len(axes)
    if len(by) != len(axes):
        raise refuse("roll", f"{len(by)} shifts for {len(axes)} axes", "pass one shift for each axis")
    steps = dict(zip(axes, (integer("roll", "shift", s) for s in by), strict=True))

    last, size = x.ndim - 1, number(x.shape[-1]) if x.ndim else None
    by_last = steps.get(last, 0) % size if size else 0

    def source_index(d: int, i: te.Expr) -> te.Expr:
        return (i - steps[d]) % x.shape[d] if d in steps else i

    def element(*i: te.Expr) -> te.Expr:
        start = [source_index(d, v) for d, v in enumerate(i)]
        if not by_last or size is None:
            return x(*start)
        *start, _ = start  # the last one by its place: adjacent elements of a row are adjacent in the input
        return te.if_then_else(i[last] < by_last, x(*start, i[last] + (size - by_last)), x(*start, i[last] - by_last))

    return te.compute(x.shape, element, name="T_roll")


def position(index: te.Expr, size: te.Size, negative: bool = True) -> te.Expr:
    """An index that is data as one within 0..size - 1: a negative one from the end, one beyond limited."""
    wrapped = index.astype("int32") if index.dtype != "int32" else index
    if negative:
        wrapped = te.Select(wrapped < 0, wrapped + size, wrapped)
    return te.max(te.min(wrapped, size - 1), 0)


def indices_of(op: str, indices: te.Tensor) -> te.Tensor:
    """An operand of integers."""
    operand = tensor(op, "indices", indices)
    if is_float(operand.dtype) or operand.dtype == "bool":
        raise refuse(
            op, f"{describe_tensor('indices', operand)} are not integers", 'cast them: astype(indices, "int32")'
        )
    return operand


def take(
    a: te.Tensor, indices: te.Tensor, axis: int | None = None, batch_dims: int = 0, mode: str = "clip"
) -> te.Tensor:
    """a[.., indices, ..]: the slices of an axis at the indices, whose axes replace that, as an embedding.

    axis: default all in row-major order. mode: "clip" limits indices to the axis; "fast" too, as nothing else is safe;
    "wrap" takes them modulo its size. batch_dims: only 0.
    """
    x, positions = tensor("take", "a", a), indices_of("take", indices)
    one_of("take", "mode", mode, ["clip", "fast", "wrap"])
    if batch_dims != 0:
        raise refuse("take", f"batch_dims={short_repr(batch_dims)}", "use gather_nd")
    if axis is None:
        x, axis = reshape(x, (-1,)), 0
    d = axis_of("take", axis, x.ndim)
    size = x.shape[d]

    def element(*i: te.Expr) -> te.Expr:
        index = positions(*i[d : d + positions.ndim])
        if mode == "wrap":
            where = te.floormod(index if positions.dtype == "int32" else index.astype("int32"), size)
        else:
            where = position(index, size, negative=False)
        return x(*i[:d], where, *i[d + positions.ndim :])

    return te.compute((*x.shape[:d], *positions.shape, *x.shape[d + 1 :]), element, name="T_take")


def gather(data: te.Tensor, axis: int, indices: te.Tensor) -> te.Tensor:
    """result[i, j] = data[indices[i, j], j] for axis 0: of the shape of the indices, whose other sizes are not greater
    than those of the data."""
    x, positions = tensor("gather_elements", "data", data), indices_of("gather_elements", indices)
    d = axis_of("gather_elements", axis, x.ndim)
    if positions.ndim != x.ndim:
        problem = f"{describe_tensor('data', x)} and {describe_tensor('indices', positions)}"
        raise refuse("gather_elements", problem, "pass indices with as many axes as the data")
    return te.compute(
        positions.shape, lambda *i: x(*i[:d], position(positions(*i), x.shape[d]), *i[d + 1 :]), name="T_gather"
    )


def gather_nd(data: te.Tensor, indices: te.Tensor, batch_dims: int = 0) -> te.Tensor:
    """The last axis of the indices holds positions along the first axes of the data (after `batch_dims` that both
    have): (b, s, d), (b, n, 1) -> (b, n, d) with batch_dims=1."""
    x, positions = tensor("gather_nd", "data", data), indices_of("gather_nd", indices)
    depth = positions.shape[-1] if positions.ndim else None
    b = integer("gather_nd", "batch_dims", batch_dims, 0)
    if not isinstance(depth, int) or b >= positions.ndim or b + depth > x.ndim:
        problem = f"{describe_tensor('data', x)} and {describe_tensor('indices', positions)}, batch_dims={b}"
        raise refuse("gather_nd", problem, "the last axis of the indices is at most as long as the data has axes")
    outer = positions.ndim - 1

    def element(*i: te.Expr) -> te.Expr:
        where = [position(positions(*i[:outer], n), x.shape[b + n]) for n in range(depth)]
        return x(*i[:b], *where, *i[outer:])

    return te.compute((*positions.shape[:-1], *x.shape[b + depth :]), element, name="T_gather_nd")


def index_tensor(data: te.Tensor, *indices: te.Tensor) -> te.Tensor:
    """data[i0, i1, ...] with tensors of indices that broadcast, one for each of the first axes."""
    x = tensor("index_tensor", "data", data)
    index_tensors = [indices_of("index_tensor", i) for i in indices]
    if not 0 < len(index_tensors) <= x.ndim:
        problem = f"{len(index_tensors)} tensors of indices for {describe_tensor('data', x)}"
        raise refuse("index_tensor", problem, "pass one for each of the first axes")
    shape = broadcast_shape("index_tensor", *(i.shape for i in index_tensors))

    def element(*i: te.Expr) -> te.Expr:
        outer = i[: len(shape)]
        return x(
            *(position(read(g, outer, shape), n) for g, n in zip(index_tensors, x.shape, strict=False)),
            *i[len(shape) :],
        )

    return te.compute((*shape, *x.shape[len(index_tensors) :]), element, name="T_index")


def _normalize_index(index: te.Expr, size: te.Size) -> tuple[te.Expr, te.Expr]:
    """An index that is data, with negative ones from the end, and whether it is within the axis."""
    wrapped = index.astype("int32") if index.dtype != "int32" else index
    wrapped = te.Select(wrapped < 0, wrapped + size, wrapped)
    return wrapped, te.all(wrapped >= 0, wrapped < size)


def scatter_elements(
    data: te.Tensor, indices: te.Tensor, updates: te.Tensor, axis: int = 0, reduction: str = "update"
) -> te.Tensor:
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

    def element(*i: te.Expr) -> Update:
        index, in_bounds = _normalize_index(positions(*i), x.shape[d])
        return (*i[:d], index, *i[d + 1 :]), lambda old: COMBINE[reduction](old, new(*i)), in_bounds

    return te.update(x, positions.shape, element, name="T_scatter_elements")


def scatter_nd(data: te.Tensor, indices: te.Tensor, updates: te.Tensor, mode: str = "update") -> te.Tensor:
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


def index_put(
    data: te.Tensor,
    indices: te.Tensor | Sequence[te.Tensor],
    values: te.Tensor,
    accumulate: bool = False,
    axis: int = 0,
) -> te.Tensor:
    """A copy of the data with result[:, i0, i1, ...] = values: a tensor of indices for each axis from `axis` on, which
    broadcast, as does `values`. accumulate: values are added. The update of a key/value cache at a position."""
    op = "index_put"
    x, new = tensor(op, "data", data), tensor(op, "values", values)
    index_tensors = [indices_of(op, i) for i in (indices if isinstance(indices, Sequence) else [indices])]
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
    op: str,
    x: te.Tensor,
    outer: Sequence[te.Size],
    coordinates: Sequence[Elements],
    new: te.Tensor,
    mode: str,
    axis: int = 0,
) -> te.Tensor:
    """`result[lead, place0(i), place1(i), rest] = new[lead, i, rest]` for the points i of `outer`; `new` broadcasts.
    axis: of the first position, behind the axes of `lead`."""
    one_type(op, data=x, updates=new)
    shape, end = (*x.shape[:axis], *outer, *x.shape[axis + len(coordinates) :]), axis + len(outer)
    if new.ndim > len(shape) or not all(map(are_equal, broadcast_shape(op, new.shape, shape), shape)):
        problem = f"{describe_tensor('updates', new)} for {describe_tensor('data', x)}"
        raise refuse(op, problem, "pass updates of the shape of the indices, followed by the axes that have none")

    def element(*i: te.Expr) -> Update:
        sizes = x.shape[axis : axis + len(coordinates)]
        wrapped = [_normalize_index(index_at(i[axis:end]), n) for index_at, n in zip(coordinates, sizes, strict=True)]
        index = (*i[:axis], *(position for position, _ in wrapped), *i[end:])
        return (
            index,
            lambda old: COMBINE[mode](old, read(new, i, shape)),
            te.all(*(in_bounds for _, in_bounds in wrapped)),
        )

    return te.update(x, shape, element, ordered=end, name=f"T_{op}")


def slice_scatter(
    data: te.Tensor, src: te.Tensor, start: te.Size = 0, end: te.Size | None = None, step: int = 1, axis: int = 0
) -> te.Tensor:
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


def _slice_bound(op: str, value: te.Size | None, size: te.Size, default: te.Size) -> te.Size:
    if value is None:
        return default
    bound = extent(op, value)
    if not isinstance(bound, int):
        return bound
    if isinstance(size, int):
        return max(0, min(size, bound + size if bound < 0 else bound))
    return simple(size + bound) if bound < 0 else size if bound >= 1 << 30 else bound
