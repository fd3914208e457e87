"""Elements in order, by counting for each how many come before it."""

from __future__ import annotations

from typing import Any

from tir_mlir import te
from tir_mlir.te.expr import t_call
from tir_mlir.topi.operands import axis_of, described, integer, numbers, one_of, refuse, tensor
from tir_mlir.topi.sizes import number

__all__ = ["argsort", "sort", "topk"]

MOST = 1 << 13
"""The longest axis that is put in order: the work grows with its square."""


def topk(
    data: Any, k: int = 1, axis: int = -1, ret_type: str = "both", largest: bool = True, dtype: str = "int32"
) -> Any:
    """The k greatest elements along an axis, in order, and their positions; of equals the first one first.

    ret_type: "both", "values" or "indices"; largest=False: the least ones; dtype: of the positions. An axis of n
    elements takes n * n steps; at most 8192.
    """
    op = "topk"
    x = tensor(op, "data", data)
    dim, size = _axis(op, x, axis)
    if one_of(op, "ret_type", ret_type, ["both", "values", "indices"]) != "indices":
        numbers(op, "data", x)
    if integer(op, "k", k, 1) > size:
        raise refuse(op, f"k={k} of axis {dim} of {described('data', x)}", f"use at most {size}")
    rank = _ranks(x, dim, largest)
    where = _selected(x, rank, dim, k, None, dtype) if ret_type != "values" else None
    values = _selected(x, rank, dim, k, x, x.dtype) if ret_type != "indices" else None
    return [values, where] if ret_type == "both" else where if values is None else values


def argsort(data: Any, axis: int = -1, descending: bool = False, dtype: str = "int32") -> te.Tensor:
    """The positions of the elements along an axis in order, of equals the first one first; at most 8192 elements."""
    x = tensor("argsort", "data", data)
    dim, size = _axis("argsort", x, axis)
    return _selected(x, _ranks(x, dim, descending), dim, size, None, dtype)


def sort(data: Any, axis: int = -1, descending: bool = False) -> te.Tensor:
    """The elements along an axis in order; at most 8192 elements."""
    x = numbers("sort", "data", tensor("sort", "data", data))
    dim, size = _axis("sort", x, axis)
    return _selected(x, _ranks(x, dim, descending), dim, size, x, x.dtype)


def _axis(op: str, x: te.Tensor, axis: int) -> tuple[int, int]:
    dim = axis_of(op, axis, x.ndim)
    size = number(x.shape[dim])
    if size is None or size > MOST:
        problem = f"axis {dim} of {described('data', x)} has {x.shape[dim]} elements"
        raise refuse(op, problem, f"put it in order outside of the graph; here it is a number up to {MOST}")
    return dim, size


def _put(index: Any, dim: int, value: Any) -> tuple[Any, ...]:
    return (*index[:dim], value, *index[dim + 1 :])


def _ranks(x: te.Tensor, dim: int, descending: bool) -> te.Tensor:
    """The number of elements that come before each one."""
    k = te.reduce_axis((0, x.shape[dim]), name="k")

    def element(*i: Any) -> Any:
        lhs, rhs = (v.astype("int8") if x.dtype == "bool" else v for v in (x(*i), x(*_put(i, dim, k))))
        precedes = rhs > lhs if descending else rhs < lhs
        tie = te.all(t_call("EQ", rhs, lhs), k < i[dim])
        return te.sum(te.Select(te.any(precedes, tie), t_call("int32", 1), t_call("int32", 0)), axis=k)

    return te.compute(x.shape, element, name="T_rank")


def _selected(x: te.Tensor, rank: te.Tensor, dim: int, count: int, values: te.Tensor | None, dtype: str) -> te.Tensor:
    """For each of the first ranks the element that has it, or its position."""
    k = te.reduce_axis((0, x.shape[dim]), name="k")

    def element(*i: Any) -> Any:
        source = _put(i, dim, k)
        value = values(*source) if values is not None else t_call("cast", k, dtype)
        has = te.all(rank(*source) <= i[dim], rank(*source) >= i[dim])
        return te.sum(te.Select(has, value, t_call("cast", 0, dtype)), axis=k)

    return te.compute(_put(x.shape, dim, count), element, name="T_topk")
