"""Sums, products, maxima of the elements up to each one."""

from __future__ import annotations

from collections.abc import Sequence

from tir_mlir import te
from tir_mlir.te.statements import T
from tir_mlir.topi.operands import Axes, as_type, axis_of, constant, floats, is_float, numbers, tensor, wide_type
from tir_mlir.topi.reductions import narrow
from tir_mlir.topi.shapes import reshape
from tir_mlir.topi.sizes import ceil_quotient, exact_quotient, number, ravel_index, total, unravel_index

__all__ = ["cummax", "cummin", "cumprod", "cumsum", "logcumsumexp"]

CHUNK = 16
"""The number of elements that a cumulative sum adds up one by one."""
SYMBOLIC_LEVELS = 2
"""Chunks of chunks of a symbolic size: their sums, a 256th of the elements, are added up for each of them."""


def cumsum(data: te.Tensor, axis: Axes = None, dtype: str | None = None, exclusive: bool = False) -> te.Tensor:
    """Sums of the elements up to each one, along an axis; axis None: of all in row-major order, as a vector.

    exclusive: without the element itself. dtype: of the sums, default that of the data.
    """
    x = tensor("cumsum", "data", data)
    if axis is None:
        x, axis = reshape(x, (-1,)), 0
    dim = axis_of("cumsum", axis, x.ndim)
    to = dtype or numbers("cumsum", "data", x).dtype
    wide = wide_type(to)
    return narrow(_prefix(x, dim, wide, exclusive), to)


def cumprod(data: te.Tensor, axis: Axes = None, dtype: str | None = None, exclusive: bool = False) -> te.Tensor:
    """Products of the elements up to each one, along an axis; axis None: of all in row-major order, as a vector.

    exclusive: without the element itself. dtype: of the products, default that of the data.
    """
    x = tensor("cumprod", "data", data)
    if axis is None:
        x, axis = reshape(x, (-1,)), 0
    to = dtype or numbers("cumprod", "data", x).dtype
    return narrow(_running(x, axis_of("cumprod", axis, x.ndim), wide_type(to), exclusive), to)


def logcumsumexp(data: te.Tensor, axis: int = -1) -> te.Tensor:
    """Logarithms of the sums of exp of the elements up to each one, along an axis, without overflow."""
    x = floats("logcumsumexp", "data", data)
    return narrow(_running_logarithm(x, axis_of("logcumsumexp", axis, x.ndim), wide_type(x.dtype)), x.dtype)


def cummax(data: te.Tensor, axis: int = -1) -> list[te.Tensor]:
    """The greatest element up to each one, along an axis, and its position, int64: the last one of equals. NaN is
    greater than all."""
    return _extremes("cummax", data, axis, True)


def cummin(data: te.Tensor, axis: int = -1) -> list[te.Tensor]:
    """The least element up to each one, along an axis, and its position, int64: the last one of equals. NaN is less
    than all."""
    return _extremes("cummin", data, axis, False)


def _replace_axis(index: Sequence[te.Size], axis: int, value: te.Size) -> tuple[te.Size, ...]:
    return (*index[:axis], value, *index[axis + 1 :])


def _is_included(k: te.Expr, i: te.Expr, exclusive: bool) -> te.Expr:
    return k < i if exclusive else k <= i


def _serial_prefix(x: te.Tensor, axis: int, dtype: str, exclusive: bool) -> te.Tensor:
    """Prefix sums of a short axis: each element sums all elements up to it."""
    k = te.reduce_axis((0, x.shape[axis]), name="k")

    def element(*i: te.Expr) -> te.ReductionValue:
        value = as_type(x(*_replace_axis(i, axis, k)), x.dtype, dtype)
        return te.sum(te.Select(_is_included(k, i[axis], exclusive), value, constant(0, dtype)), axis=k)

    return te.compute(x.shape, element, name="T_cumsum")


def _prefix(x: te.Tensor, axis: int, dtype: str, exclusive: bool, levels: int = SYMBOLIC_LEVELS) -> te.Tensor:
    """Prefix sums; of a long axis in chunks: sums within each, and before each, the latter of float32 in float64;
    `levels` of them for a symbolic one."""

    size, zero, exact = x.shape[axis], constant(0, dtype), _sum_type(dtype)
    chunks = ceil_quotient(size, CHUNK)
    if number(chunks) in (0, 1) or (number(size) is None and not levels):
        return _serial_prefix(x, axis, dtype, exclusive)
    ragged = exact_quotient([size], [CHUNK]) is None

    def element_at(i: Sequence[te.Expr], position: te.Expr) -> te.Expr:
        """The element of a position; behind the end any, as no sum that is asked for has it."""
        return as_type(x(*_replace_axis(i, axis, te.min(position, size - 1) if ragged else position)), x.dtype, dtype)

    m = te.reduce_axis((0, CHUNK), name="m")

    def chunk_prefix(*i: te.Expr) -> te.ReductionValue:
        chunk, position = i[axis : axis + 2]
        value = element_at((*i[: axis + 1], *i[axis + 2 :]), chunk * CHUNK + m)
        return te.sum(te.Select(_is_included(m, position, exclusive), value, zero), axis=m)

    parts = te.compute((*x.shape[:axis], chunks, CHUNK, *x.shape[axis + 1 :]), chunk_prefix, name="T_chunk_cumsum")

    def part(i: Sequence[te.Size], position: te.Size) -> te.Expr:
        return parts(*i[: axis + 1], position, *i[axis + 1 :])

    def chunk_total(*i: te.Expr) -> te.Expr:
        last = CHUNK - 1
        return part(i, last) + element_at(i, i[axis] * CHUNK + last) if exclusive else part(i, last)

    sums = te.compute(
        _replace_axis(x.shape, axis, chunks), lambda *i: as_type(chunk_total(*i), dtype, exact), name="T_chunk_sum"
    )
    before = _prefix(sums, axis, exact, True, levels - 1)

    def element(*i: te.Expr) -> te.Expr:
        chunk = _replace_axis(i, axis, i[axis] // CHUNK)
        return as_type(before(*chunk) + as_type(part(chunk, i[axis] % CHUNK), dtype, exact), exact, dtype)

    return te.compute(x.shape, element, name="T_cumsum")


def _sum_type(dtype: str) -> str:
    """The type in which long sums of a type lose no digits of it."""
    return "float64" if dtype == "float32" else dtype


def _split(x: te.Tensor, axis: int, dtype: str) -> te.Tensor:
    """(outer, n, inner), with the axis in the middle."""
    outer, size, inner = total(x.shape[:axis]), x.shape[axis], total(x.shape[axis + 1 :])

    def element(o: te.Expr, k: te.Expr, i: te.Expr) -> te.Expr:
        return as_type(x(*unravel_index(o, x.shape[:axis]), k, *unravel_index(i, x.shape[axis + 1 :])), x.dtype, dtype)

    return te.compute((outer, size, inner), element, name="T_rows")


def _merge_axes(x: te.Tensor, shape: Sequence[te.Size], axis: int, name: str) -> te.Tensor:
    """The axis between those that `_split` put together."""

    def element(*i: te.Expr) -> te.Expr:
        return x(ravel_index(i[:axis], shape[:axis]), i[axis], ravel_index(i[axis + 1 :], shape[axis + 1 :]))

    return te.compute(shape, element, name=name)


def _running(x: te.Tensor, axis: int, dtype: str, exclusive: bool) -> te.Tensor:
    """Products, one element after the other."""
    rows = _split(x, axis, dtype)
    outer, size, inner = rows.shape
    if number(size) == 0:
        return te.compute(x.shape, lambda *i: as_type(x(*i), x.dtype, dtype), name="T_running")

    def row(o, i, X, Y):
        T.reads(X[o, 0:size, i])
        T.writes(Y[o, 0:size, i])
        so_far = T.alloc_buffer((1,), dtype)
        so_far[0] = T.cast(1, dtype) if exclusive else X[o, 0, i]
        Y[o, 0, i] = so_far[0]
        for k in T.serial(1, size):
            so_far[0] = so_far[0] * (X[o, k - 1, i] if exclusive else X[o, k, i])
            Y[o, k, i] = so_far[0]

    ran = te.statements((outer, inner), [rows], [((outer, size, inner), dtype)], row, name="T_running")
    return _merge_axes(ran, x.shape, axis, "T_running")


def _running_logarithm(x: te.Tensor, axis: int, dtype: str) -> te.Tensor:
    """log(sum(exp(x))) of the elements up to each one, as top + log(sum(exp(x - top))) with the greatest so far taken
    out: exp does not overflow, and a sum of float64 loses no digits of float32."""
    rows = _split(x, axis, dtype)
    outer, size, inner = rows.shape
    if number(size) == 0:
        return te.compute(x.shape, lambda *i: as_type(x(*i), x.dtype, dtype), name="T_running")
    exact = _sum_type(dtype)

    def row(o, i, X, Y):
        T.reads(X[o, 0:size, i])
        T.writes(Y[o, 0:size, i])
        top = T.alloc_buffer((1,), dtype)
        total = T.alloc_buffer((1,), exact)
        top[0] = X[o, 0, i]
        total[0] = T.cast(1, exact)
        Y[o, 0, i] = top[0]
        for k in T.serial(1, size):
            value = X[o, k, i]
            greatest = T.max(top[0], value)
            least = T.min(top[0], value)
            # infinities have no difference: the result is theirs, whatever finite number the sum is
            share = T.cast(T.Select(T.isinf(greatest), T.cast(0, dtype), T.exp(least - greatest)), exact)
            total[0] = T.Select(value > top[0], total[0] * share + T.cast(1, exact), total[0] + share)
            top[0] = greatest
            Y[o, k, i] = greatest + T.log(T.cast(total[0], dtype))

    ran = te.statements((outer, inner), [rows], [((outer, size, inner), dtype)], row, name="T_running")
    return _merge_axes(ran, x.shape, axis, "T_running")


def _extremes(op: str, data: te.Tensor, axis: int, greatest: bool) -> list[te.Tensor]:
    x = tensor(op, "data", data)
    dim = axis_of(op, axis, x.ndim)
    kind = "int8" if x.dtype == "bool" else x.dtype
    rows = _split(x, dim, kind)
    outer, size, inner = rows.shape
    if number(size) == 0:
        return [
            te.compute(x.shape, lambda *i: x(*i), name=f"T_{op}"),
            te.compute(x.shape, lambda *_: constant(0, "int64"), name=f"T_{op}_place"),
        ]
    has_nan = is_float(kind)

    def row(o, i, X, Y, P):
        T.reads(X[o, 0:size, i])
        T.writes(Y[o, 0:size, i], P[o, 0:size, i])
        so_far = T.alloc_buffer((1,), kind)
        position = T.alloc_buffer((1,), "int32")
        so_far[0] = X[o, 0, i]
        position[0] = 0
        for k in T.serial(size):
            value = X[o, k, i]
            if has_nan and T.Or(T.isnan(value), value >= so_far[0] if greatest else value <= so_far[0]):
                so_far[0] = value
                position[0] = k
            if not has_nan and (value >= so_far[0] if greatest else value <= so_far[0]):
                so_far[0] = value
                position[0] = k
            Y[o, k, i] = so_far[0]
            P[o, k, i] = T.cast(position[0], "int64")

    shape = (outer, size, inner)
    values, positions = te.statements((outer, inner), [rows], [(shape, kind), (shape, "int64")], row, name=f"T_{op}")
    found = _merge_axes(values, x.shape, dim, f"T_{op}")
    if kind != x.dtype:
        found = te.compute(x.shape, lambda *i, y=found: y(*i) > constant(0, kind), name=f"T_{op}")
    return [found, _merge_axes(positions, x.shape, dim, f"T_{op}_place")]
