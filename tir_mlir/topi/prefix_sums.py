"""Prefix sums."""

from __future__ import annotations

from typing import Any

from tir_mlir import te
from tir_mlir.topi.operands import as_type, axis_of, constant, numbers, tensor, wide_type
from tir_mlir.topi.reductions import narrow
from tir_mlir.topi.shapes import reshape
from tir_mlir.topi.sizes import exact_quotient

__all__ = ["cumsum"]

CHUNK = 32
"""The number of elements that a cumulative sum adds up one by one."""


def cumsum(data: Any, axis: Any = None, dtype: str | None = None, exclusive: bool = False) -> te.Tensor:
    """Sums of the elements up to each one, along an axis; axis None: of all in row-major order, as a vector.

    exclusive: without the element itself. dtype: of the sums, default that of the data.
    """
    x = tensor("cumsum", "data", data)
    if axis is None:
        x, axis = reshape(x, (-1,)), 0
    dim = axis_of("cumsum", axis, x.ndim)
    to = dtype or numbers("cumsum", "data", x).dtype
    wide = wide_type(to)
    added = _prefix(x, dim, wide, exclusive)
    return narrow(added, to)


def _prefix(x: te.Tensor, axis: int, dtype: str, exclusive: bool) -> te.Tensor:
    """Prefix sums; of a long axis in chunks: sums within each, and before each."""

    def put(index: Any, value: Any) -> tuple[Any, ...]:
        return (*index[:axis], value, *index[axis + 1 :])

    def below(k: Any, i: Any) -> Any:
        return k < i if exclusive else k <= i

    size, zero = x.shape[axis], constant(0, dtype)
    chunks = exact_quotient([size], [CHUNK])
    if chunks in (None, 0, 1):
        k = te.reduce_axis((0, size), name="k")
        value = lambda i: te.if_then_else(below(k, i[axis]), as_type(x(*put(i, k)), x.dtype, dtype), zero)  # noqa: E731
        return te.compute(x.shape, lambda *i: te.sum(value(i), axis=k), name="T_cumsum")
    k, m = te.reduce_axis((0, CHUNK), name="k"), te.reduce_axis((0, CHUNK), name="k")
    sums = te.compute(
        put(x.shape, chunks),
        lambda *i: te.sum(as_type(x(*put(i, i[axis] * CHUNK + k)), x.dtype, dtype), axis=k),
        name="T_chunk_sum",
    )
    chunk_offsets = _prefix(sums, axis, dtype, True)

    def inside(*i: Any) -> Any:
        first = i[axis] // CHUNK * CHUNK
        value = as_type(x(*put(i, first + m)), x.dtype, dtype)
        return te.sum(te.if_then_else(below(m, i[axis] % CHUNK), value, zero), axis=m)

    chunk_prefixes = te.compute(x.shape, inside, name="T_chunk_cumsum")
    return te.compute(
        x.shape, lambda *i: chunk_offsets(*put(i, i[axis] // CHUNK)) + chunk_prefixes(*i), name="T_cumsum"
    )
