"""Positions in sequences that are in order."""

from __future__ import annotations

from typing import Any

from tir_mlir import te
from tir_mlir.te.statements import T
from tir_mlir.topi.operands import describe_tensor, one_type, refuse, tensor
from tir_mlir.topi.sizes import are_equal, number, total

__all__ = ["search_sorted", "true_places"]


def search_sorted(sequence: te.Tensor, values: te.Tensor, right: bool = False) -> te.Tensor:
    """How many elements of a sequence in order are less than each value, right: less or equal; int32.

    sequence: a vector, or sequences along its last axis, (.., n) for values (.., m). Halves the sequence each time.
    NaN is behind all numbers.
    """
    op = "search_sorted"
    x, v = tensor(op, "sequence", sequence), tensor(op, "values", values)
    one_type(op, sequence=x, values=v)
    rows = x.ndim > 1
    fits = not rows or (x.ndim == v.ndim and all(map(are_equal, x.shape[:-1], v.shape[:-1])))
    if not x.ndim or not fits:
        problem = f"{describe_tensor('sequence', x)} for {describe_tensor('values', v)}"
        raise refuse(op, problem, "pass a vector, or as many sequences as there are rows of values")
    size = x.shape[-1]
    if number(size) == 0:
        return te.compute(v.shape, lambda *_: te.cast(0, "int32"), name="T_search")
    outer, inner = (total(x.shape[:-1]), v.shape[-1]) if rows else (1, total(v.shape))
    flat_x = _as_rows(x, outer, size)
    flat_v = _as_rows(v, outer, inner)

    def place(i, j, X, V, P):
        T.reads(X[i, 0:size], V[i, j])
        T.writes(P[i, j])
        low = T.alloc_buffer((1,), "int32")
        high = T.alloc_buffer((1,), "int32")
        low[0] = 0
        high[0] = size
        while low[0] < high[0]:
            middle = (low[0] + high[0]) // 2
            if right:
                if V[i, j] < X[i, middle]:
                    high[0] = middle
                else:
                    low[0] = middle + 1
            if not right:
                if V[i, j] <= X[i, middle]:
                    high[0] = middle
                else:
                    low[0] = middle + 1
        P[i, j] = low[0]

    found = te.statements((outer, inner), [flat_x, flat_v], [((outer, inner), "int32")], place, name="T_search")
    return te.compute(v.shape, lambda *i: found(*_row_and_column(i, v.shape, rows)), name="T_search")


def _as_rows(x: te.Tensor, outer: Any, inner: Any) -> te.Tensor:
    if x.ndim == 2 and are_equal(x.shape[0], outer):
        return x

    def element(i: Any, j: Any) -> Any:
        flat, index = i * inner + j, []
        for n in reversed(x.shape[1:]):
            index, flat = [flat % n, *index], flat // n
        return x(*([flat, *index] if x.ndim else []))

    return te.compute((outer, inner), element, name="T_rows")


def _row_and_column(index: Any, shape: Any, rows: bool) -> tuple[Any, Any]:
    row: Any = 0
    for i, n in zip(index[:-1] if rows else index, shape[:-1] if rows else shape, strict=True):
        row = row * n + i
    return (row, index[-1]) if rows else (0, row)


def true_places(mask: te.Tensor) -> list[te.Tensor]:
    """The positions of a vector of bool at which it is true, in order, and how many they are, an int64 of no
    dimensions. The positions, int64, are as many as the mask has; those behind the last true one are 0."""
    op = "true_places"
    x = tensor(op, "mask", mask)
    if x.ndim != 1 or x.dtype != "bool":
        raise refuse(op, describe_tensor("mask", x), "pass a vector of bool")
    (size,) = x.shape

    def places(_, X, P, C):
        T.reads(X[0:size])
        T.writes(P[0:size], C[0])
        count = T.alloc_buffer((1,), "int32")
        count[0] = 0
        for j in range(size):
            P[j] = T.cast(0, "int64")
        for j in range(size):
            if X[j]:
                P[count[0]] = T.cast(j, "int64")
                count[0] = count[0] + 1
        C[0] = T.cast(count[0], "int64")

    found, count = te.statements((1,), [x], [((size,), "int64"), ((1,), "int64")], places, name="T_places")
    return [found, te.compute((), lambda: count(0), name="T_count")]
