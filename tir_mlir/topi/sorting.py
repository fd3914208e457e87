"""Elements in order: short axes by counting for each element how many come before it, long ones digit by digit.

Positions in sequences that are in order.
"""

from __future__ import annotations

from collections.abc import Sequence

from tir_mlir import te
from tir_mlir.te.expr import t_call
from tir_mlir.te.statements import T
from tir_mlir.topi.operands import (
    as_type,
    axis_of,
    constant,
    describe_tensor,
    integer,
    is_float,
    one_of,
    one_type,
    refuse,
    tensor,
)
from tir_mlir.topi.sizes import are_equal, number, ravel_index, total, unravel_index

__all__ = ["argsort", "search_sorted", "sort", "topk", "true_places"]

SHORT = 64
"""The longest axis whose elements are counted: the work grows with its square."""
FEW = 64
"""The most elements that are kept in order while the others pass by."""
BITS: dict[str, int] = {"bool": 16, "int8": 16, "uint8": 16, "int16": 16, "float64": 64, "int64": 64, "uint64": 64}
"""Bits of the keys of a type, 32 of the others."""


def topk(
    data: te.Tensor, k: te.Size = 1, axis: int = -1, ret_type: str = "both", largest: bool = True, dtype: str = "int32"
) -> te.Tensor | list[te.Tensor]:
    """The k greatest elements along an axis, in order, and their positions; of equals the first one first, NaN is
    greater than all.

    ret_type: "both", "values" or "indices"; largest=False: the least ones; dtype: of the positions. Where the axis has
    a named size: k is a number or that size; of fewer than k elements all are given, then 0 at the position that is
    their number.
    """
    op = "topk"
    x = tensor(op, "data", data)
    dim, size = _axis(op, x, axis)
    one_of(op, "ret_type", ret_type, ["both", "values", "indices"])
    if not isinstance(k, te.Expr) or not are_equal(k, size):
        known = number(size)
        if integer(op, "k", k, 0) > (k if known is None else known):
            raise refuse(op, f"k={k} of axis {dim} of {describe_tensor('data', x)}", f"use at most {size}")
    where = _first_positions(x, dim, k, largest)
    if ret_type == "indices":
        return _as_type(where, dtype)
    values = _take_elements(x, where, dim)
    return [values, _as_type(where, dtype)] if ret_type == "both" else values


def _as_type(where: te.Tensor, dtype: str) -> te.Tensor:
    """Positions in another type."""
    return where if dtype == "int32" else te.compute(where.shape, lambda *i: where(*i).astype(dtype), name="T_topk")


def argsort(data: te.Tensor, axis: int = -1, descending: bool = False, dtype: str = "int32") -> te.Tensor:
    """The positions of the elements along an axis in order; equal ones keep theirs, NaN is greater than all."""
    x = tensor("argsort", "data", data)
    return _as_type(_first_positions(x, *_axis("argsort", x, axis), descending), dtype)


def sort(data: te.Tensor, axis: int = -1, descending: bool = False) -> te.Tensor:
    """The elements along an axis in order; NaN is greater than all."""
    x = tensor("sort", "data", data)
    dim, size = _axis("sort", x, axis)
    return _take_elements(x, _first_positions(x, dim, size, descending), dim)


def _axis(op: str, x: te.Tensor, axis: int) -> tuple[int, te.Size]:
    dim = axis_of(op, axis, x.ndim)
    size = number(x.shape[dim])
    return dim, x.shape[dim] if size is None else size


def _replace_axis(index: Sequence[te.Size], dim: int, value: te.Size) -> tuple[te.Size, ...]:
    return (*index[:dim], value, *index[dim + 1 :])


def _keys(x: te.Tensor, dim: int, descending: bool) -> te.Tensor:
    """Integers in the order of the elements, the reverse one for descending; the axis `dim` is the last one.

    Of a float its bits, of a negative one the others but the sign; those of NaN are the greatest, and 0 is one number.
    """
    bits = BITS.get(x.dtype, 32)
    key_type = f"int{bits}"
    last, lowest = x.ndim - 1, 1 << (bits - 1)

    def key(value: te.Expr) -> te.Expr:
        if is_float(x.dtype):
            wide = "float64" if bits == 64 else "float32"
            plain = as_type(value, x.dtype, wide)
            raw = t_call("reinterpret", key_type, plain + constant(0, wide))
            ordered = te.Select(raw < constant(0, key_type), raw ^ constant(lowest - 1, key_type), raw)
            whole = te.Select(te.isnan(plain), constant(lowest - 1, key_type), ordered)
        elif x.dtype in ("uint32", "uint64"):
            whole = value.astype(key_type) ^ constant(-lowest, key_type)
        else:
            whole = as_type(value, x.dtype, key_type)
        return constant(-1, key_type) - whole if descending else whole

    order = [*range(dim), *range(dim + 1, x.ndim), dim]
    shape = tuple(x.shape[a] for a in order)
    return te.compute(
        shape,
        lambda *i: key(x(*_replace_axis(i[:last], dim, i[last]) if dim == last else (*i[:dim], i[-1], *i[dim:-1]))),
        "T_key",
    )


def _first_positions(x: te.Tensor, dim: int, count: te.Size, descending: bool) -> te.Tensor:
    """The positions of the first `count` elements in order, along the axis."""
    keys = _keys(x, dim, descending)
    size = number(keys.shape[-1])
    outer = keys.shape[:-1]
    if 0 in (size, count) or not all(number(n) != 0 for n in outer):
        return te.compute(_replace_axis(x.shape, dim, count), lambda *i: constant(0, "int32"), name="T_order")
    if size is not None and size <= SHORT:
        order = _rank_sort(keys, count)
    else:
        flat = _as_rows(keys)
        few = FEW if size is None else min(FEW, size // 8)
        is_few = isinstance(count, int) and count <= few
        order = _insertion_sort(flat, count) if is_few else _padded_radix_sort(flat, count)
        order = _restore_outer_axes(order, outer)
    if dim == x.ndim - 1:
        return order
    return te.compute(
        _replace_axis(x.shape, dim, count), lambda *i: order(*i[:dim], *i[dim + 1 :], i[dim]), name="T_order"
    )


def _rows(outer: Sequence[te.Size]) -> te.Size:
    rows: te.Size = 1
    for n in outer:
        rows = n * rows if isinstance(n, te.Expr) else rows * n
    return rows


def _as_rows(keys: te.Tensor) -> te.Tensor:
    if keys.ndim == 2:
        return keys
    outer = keys.shape[:-1]
    return te.compute((_rows(outer), keys.shape[-1]), lambda i, j: keys(*unravel_index(i, outer), j), name="T_rows")


def _restore_outer_axes(order: te.Tensor, outer: Sequence[te.Size]) -> te.Tensor:
    if len(outer) == 1:
        return order
    shape = (*outer, order.shape[-1])
    return te.compute(shape, lambda *i: order(ravel_index(i[:-1], outer), i[-1]), name="T_order")


def _take_elements(x: te.Tensor, where: te.Tensor, dim: int) -> te.Tensor:
    if number(x.shape[dim]) == 0:
        return te.compute(where.shape, lambda *i: constant(0, x.dtype), name="T_topk")
    size, least = x.shape[dim], constant(0, x.dtype)

    def element(*i: te.Expr) -> te.Expr:
        if isinstance(size, int) or are_equal(size, where.shape[dim]):
            return x(*_replace_axis(i, dim, te.max(te.min(where(*i), size - 1), 0)))  # the limits are for proofs
        inside = te.all(where(*i) >= 0, where(*i) < size)
        return te.if_then_else(inside, x(*_replace_axis(i, dim, where(*i))), least)

    return te.compute(where.shape, element, name="T_topk")


def _rank_sort(keys: te.Tensor, count: te.Size) -> te.Tensor:
    """By the number of keys that come before each one."""
    size, last = keys.shape[-1], keys.ndim - 1
    k, m = te.reduce_axis((0, size), name="k"), te.reduce_axis((0, size), name="m")

    def count_preceding(*i: te.Expr) -> te.ReductionValue:
        lhs, rhs = keys(*i), keys(*i[:last], k)
        precedes = te.any(rhs < lhs, te.all(t_call("EQ", rhs, lhs), k < i[last]))
        return te.sum(te.Select(precedes, t_call("int32", 1), t_call("int32", 0)), axis=k)

    rank = te.compute(keys.shape, count_preceding, name="T_rank")

    def element(*i: te.Expr) -> te.ReductionValue:
        has = t_call("EQ", rank(*i[:last], m), i[last])
        return te.sum(te.Select(has, t_call("cast", m, "int32"), t_call("int32", 0)), axis=m)

    return te.compute((*keys.shape[:-1], count), element, name="T_order")


def _insertion_sort(keys: te.Tensor, count: te.Size) -> te.Tensor:
    """The least keys so far are kept in order; a key that is less than the last one of them replaces that."""
    rows, size = keys.shape
    key_type = keys.dtype

    def row(i, X, P):
        T.reads(X[i, 0:size])
        T.writes(P[i, 0:count])
        V = T.alloc_buffer((count,), key_type)
        at = T.alloc_buffer((1,), "int32")
        for j in T.serial(count):
            V[j] = T.max_value(key_type)
            P[i, j] = size
        for j in T.serial(size):
            if T.Or(X[i, j] < V[count - 1], P[i, count - 1] == size):
                key = X[i, j]
                at[0] = count - 1
                while T.And(at[0] > 0, T.Or(key < V[T.max(at[0] - 1, 0)], P[i, T.max(at[0] - 1, 0)] == size)):
                    V[at[0]] = V[at[0] - 1]
                    P[i, at[0]] = P[i, at[0] - 1]
                    at[0] = at[0] - 1
                V[at[0]] = key
                P[i, at[0]] = j

    return te.statements((rows,), [keys], [((rows, count), "int32")], row, name="T_least")


def _radix_sort(keys: te.Tensor, count: te.Size, room: te.Size) -> te.Tensor:
    """Digit by digit of 8 bits, the last one first, each time in the order so far; a digit that all share is left out.

    room: at least the size and 1. The digits of a key are those of the key without sign: its highest bit is turned.
    """
    rows, size = keys.shape
    key_type, passes = keys.dtype, int(keys.dtype[3:]) // 8
    lowest = -(1 << (int(keys.dtype[3:]) - 1))

    def row(i, X, P):
        T.reads(X[i, 0:size])
        T.writes(P[i, 0:count])
        H = T.alloc_buffer((passes, 256), "int32")
        K = T.alloc_buffer((2, room), key_type)
        Q = T.alloc_buffer((2, room), "int32")
        total = T.alloc_buffer((1,), "int32")
        side = T.alloc_buffer((1,), "int32")
        for p, d in T.grid(passes, 256):
            H[p, d] = 0
        for j in T.serial(size):
            K[0, j] = X[i, j] ^ T.cast(lowest, key_type)
            Q[0, j] = j
            for p in T.serial(passes):
                H[p, T.cast((K[0, j] >> T.cast(8 * p, key_type)) & T.cast(255, key_type), "int32") & 255] += 1
        side[0] = 0
        for p in T.serial(passes):
            if H[p, T.cast((K[0, 0] >> T.cast(8 * p, key_type)) & T.cast(255, key_type), "int32") & 255] < size:
                total[0] = 0
                for d in T.serial(256):
                    here = H[p, d]
                    H[p, d] = total[0]
                    total[0] = total[0] + here
                for j in T.serial(size):
                    key = K[side[0], j]
                    digit = T.cast((key >> T.cast(8 * p, key_type)) & T.cast(255, key_type), "int32") & 255
                    slot = H[p, digit]
                    H[p, digit] = slot + 1
                    K[1 - side[0], slot] = key
                    Q[1 - side[0], slot] = Q[side[0], j]
                side[0] = 1 - side[0]
        for j in T.serial(count):
            P[i, j] = Q[side[0], j]

    return te.statements((rows,), [keys], [((rows, count), "int32")], row, name="T_by_digits")


def _padded_radix_sort(keys: te.Tensor, count: te.Size) -> te.Tensor:
    """By digits; of an axis of a named size all, and behind them that size."""
    rows, size = keys.shape
    if number(size) is not None or not isinstance(count, int):
        return _radix_sort(keys, count, size if isinstance(size, int) else size + 1)
    order = _radix_sort(keys, size, size + 1)
    return te.compute((rows, count), lambda i, j: te.if_then_else(j < size, order(i, j), size), name="T_order")


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
    flat_x = _of_two_axes(x, outer, size)
    flat_v = _of_two_axes(v, outer, inner)

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


def _of_two_axes(x: te.Tensor, outer: te.Size, inner: te.Size) -> te.Tensor:
    if x.ndim == 2 and are_equal(x.shape[0], outer):
        return x
    return te.compute((outer, inner), lambda i, j: x(*unravel_index(i * inner + j, x.shape)), name="T_rows")


def _row_and_column(index: Sequence[te.Expr], shape: Sequence[te.Size], rows: bool) -> tuple[te.Size, te.Size]:
    return (ravel_index(index[:-1], shape[:-1]), index[-1]) if rows else (0, ravel_index(index, shape))


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
        for j in T.serial(size):
            P[j] = T.cast(0, "int64")
        for j in T.serial(size):
            if X[j]:
                P[count[0]] = T.cast(j, "int64")
                count[0] = count[0] + 1
        C[0] = T.cast(count[0], "int64")

    found, count = te.statements((1,), [x], [((size,), "int64"), ((1,), "int64")], places, name="T_places")
    return [found, te.compute((), lambda: count(0), name="T_count")]
