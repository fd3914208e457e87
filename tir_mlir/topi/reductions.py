"""Reductions over axes."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeVar

from tir_mlir import te
from tir_mlir.te.expr import t_call
from tir_mlir.topi.operands import (
    Axes,
    Elements,
    as_type,
    axes_of,
    axis_of,
    constant,
    describe_tensor,
    floats,
    is_float,
    of_type,
    refuse,
    tensor,
    wide_type,
)
from tir_mlir.topi.sizes import total

if TYPE_CHECKING:
    from tir_mlir.te.tensor import ReductionValue

__all__ = ["all", "any", "argmax", "argmin", "max", "mean", "min", "prod", "std", "sum", "variance"]


Reducing = TypeVar("Reducing", bound=Callable[..., te.Tensor])


def reduced_shape(shape: Sequence[te.Size], axes: Sequence[int], keepdims: bool) -> tuple[te.Size, ...]:
    """The shape without the axes, or with 1 for them."""
    if keepdims:
        return tuple(1 if a in axes else n for a, n in enumerate(shape))
    return tuple(n for a, n in enumerate(shape) if a not in axes)


def reduce_axes(x: te.Tensor, axes: Sequence[int]) -> dict[int, te.IterVar]:
    """A reduce axis for each of the axes, by its number."""
    return {a: te.reduce_axis((0, x.shape[a]), name=f"k{a}") for a in sorted(axes)}


def operand_index(
    x: te.Tensor, index: Sequence[te.Expr], sums: dict[int, te.IterVar], keepdims: bool = False
) -> tuple[te.Expr, ...]:
    """The index of an element of x: that of the result with the reduce axes put in."""
    if keepdims:
        return tuple(sums.get(a, index[a]) for a in range(x.ndim))
    spatial = iter(index)
    return tuple(sums[a] if a in sums else next(spatial) for a in range(x.ndim))


def reduce_elements(
    name: str, x: te.Tensor, axes: Sequence[int], keepdims: bool, reducer: te.Reducer, dtype: str
) -> te.Tensor:
    """A reduction of the elements in a type; of no axes the elements themselves."""
    shape = reduced_shape(x.shape, axes, keepdims)
    if not axes:
        return te.compute(shape, lambda *i: as_type(x(*i), x.dtype, dtype), name=f"T_{name}")
    sums = reduce_axes(x, axes)

    def element(*i: te.Expr) -> ReductionValue:
        return reducer(as_type(x(*operand_index(x, i, sums, keepdims)), x.dtype, dtype), axis=list(sums.values()))

    return te.compute(shape, element, name=f"{x.name}_red" if name in _ALONE else f"T_{name}")


_ALONE = ("sum", "prod", "max", "min", "all", "any")
"""Reductions whose blocks are named after what they reduce: of A, A_red."""


def narrow(x: te.Tensor, dtype: str) -> te.Tensor:
    """The tensor in a type; itself if it has it."""
    return x if x.dtype == dtype else te.compute(x.shape, lambda *i: x(*i).astype(dtype), name="T_cast")


def _reduction(reducer: te.Reducer, adds: bool) -> Callable[[Reducing], Reducing]:
    """Make a declaration a reduction over axes. adds: float16 and bfloat16 are combined in float32."""

    def decorate(declared: Reducing) -> Reducing:
        name = declared.__name__

        @functools.wraps(declared)
        def operator(data: te.Tensor, axis: Sequence[int] | None = None, keepdims: bool = False) -> te.Tensor:
            x = tensor(name, "data", data)
            if x.dtype == "bool":
                fix = 'use all or any, or cast: astype(data, "int32")'
                raise refuse(name, f"{describe_tensor('data', x)} is of bool", fix)
            dtype = wide_type(x.dtype) if adds else x.dtype
            return narrow(reduce_elements(name, x, axes_of(name, axis, x.ndim), keepdims, reducer, dtype), x.dtype)

        return operator  # pyright: ignore[reportReturnType]

    return decorate


@_reduction(te.sum, True)
def sum(data: te.Tensor, axis: Axes = None, keepdims: bool = False) -> te.Tensor:
    """Sum over some axes.

        topi.sum(data, axis=1)     # (n, m) -> (n,)

    data: numbers of any shape -> the same type; axis: one, several or None for all, which makes a tensor of shape
    (); keepdims: keep the axes with size 1. float16 and bfloat16 are combined in float32. Errors: GraphError for
    bool; fix: `all`, `any` or a cast.
    """
    ...


@_reduction(te.prod, True)
def prod(data: te.Tensor, axis: Axes = None, keepdims: bool = False) -> te.Tensor:
    """Product over some axes.

        topi.prod(data, axis=1)     # (n, m) -> (n,)

    data: numbers of any shape -> the same type; axis: one, several or None for all, which makes a tensor of shape
    (); keepdims: keep the axes with size 1. float16 and bfloat16 are combined in float32. Errors: GraphError for
    bool; fix: `all`, `any` or a cast.
    """
    ...


def _extremum(name: str, better: te.Reducer, bound: Callable[[str], te.Expr], end: float) -> te.Reducer:
    """The reducer of the greatest or least element; NaN if there is one. `te.max` and `te.min` start at the greatest
    finite number, this one at an infinity, which is an element of floats, too."""
    return te.comm_reducer(lambda a, b: better(a, b), lambda t: constant(end, t) if is_float(t) else bound(t), name)


MAX = _extremum("max", te.max, te.min_value, -math.inf)
MIN = _extremum("min", te.min, te.max_value, math.inf)


@_reduction(MAX, False)
def max(data: te.Tensor, axis: Axes = None, keepdims: bool = False) -> te.Tensor:
    """The maximum over some axes; NaN if an element is NaN.

        topi.max(data, axis=1)     # (n, m) -> (n,)

    data: numbers of any shape -> the same type; axis: one, several or None for all, which makes a tensor of shape
    (); keepdims: keep the axes with size 1. Errors: GraphError for bool; fix: `all`, `any` or a cast.
    """
    ...


@_reduction(MIN, False)
def min(data: te.Tensor, axis: Axes = None, keepdims: bool = False) -> te.Tensor:
    """The minimum over some axes; NaN if an element is NaN.

        topi.min(data, axis=1)     # (n, m) -> (n,)

    data: numbers of any shape -> the same type; axis: one, several or None for all, which makes a tensor of shape
    (); keepdims: keep the axes with size 1. Errors: GraphError for bool; fix: `all`, `any` or a cast.
    """
    ...


_ALL = te.comm_reducer(lambda a, b: te.all(a, b), lambda t: t_call("bool", True), name="all")
_ANY = te.comm_reducer(lambda a, b: te.any(a, b), lambda t: t_call("bool", False), name="any")


def all(data: te.Tensor, axis: Axes = None, keepdims: bool = False) -> te.Tensor:
    """Whether all elements over some axes are true.

    data: bool, (n, m) -> (n,) for axis=1, () for axis=None; axis: one, several or None for all; keepdims: keep them
    with size 1. True of no elements.
    """
    x = of_type("all", "data", tensor("all", "data", data), ("bool",), "of bool")
    return reduce_elements("all", x, axes_of("all", axis, x.ndim), keepdims, _ALL, "bool")


def any(data: te.Tensor, axis: Axes = None, keepdims: bool = False) -> te.Tensor:
    """Whether one of the elements over some axes is true.

    data: bool, (n, m) -> (n,) for axis=1, () for axis=None; axis: one, several or None for all; keepdims: keep them
    with size 1. False of no elements.
    """
    x = of_type("any", "data", tensor("any", "data", data), ("bool",), "of bool")
    return reduce_elements("any", x, axes_of("any", axis, x.ndim), keepdims, _ANY, "bool")


def mean(data: te.Tensor, axis: Sequence[int] | None = None, keepdims: bool = False) -> te.Tensor:
    """The mean over some axes.

    data: floats, (n, m) -> (n,) for axis=1, () for axis=None; axis: one, several or None for all; keepdims: keep
    them with size 1. float16 and bfloat16 are summed in float32.
    """
    x = floats("mean", "data", data)
    axes, dtype = axes_of("mean", axis, x.ndim), wide_type(x.dtype)
    count = constant(total([x.shape[a] for a in axes]), dtype)
    added = reduce_elements("sum", x, axes, keepdims, te.sum, dtype)
    return te.compute(added.shape, lambda *i: as_type(added(*i) / count, dtype, x.dtype), name="T_mean")


def variance(data: te.Tensor, axis: Sequence[int] | None = None, keepdims: bool = False) -> te.Tensor:
    """The mean of the squared distances to the mean, over some axes.

    data: floats, (n, m) -> (n,) for axis=1; axis: one, several or None for all; keepdims: keep them with size 1.
    Divides by the number of elements, not by one less.
    """
    return _dispersion("variance", data, axis, keepdims, lambda v: v)


def std(data: te.Tensor, axis: Axes = None, keepdims: bool = False) -> te.Tensor:
    """The root of the variance over some axes.

    data: floats, (n, m) -> (n,) for axis=1; axis: one, several or None for all; keepdims: keep them with size 1.
    See `variance`.
    """
    return _dispersion("std", data, axis, keepdims, te.sqrt)


def _dispersion(name: str, data: te.Tensor, axis: Axes, keepdims: bool, last: Elements) -> te.Tensor:
    x = floats(name, "data", data)
    axes, dtype = axes_of(name, axis, x.ndim), wide_type(x.dtype)
    count = constant(total([x.shape[a] for a in axes]), dtype)
    added = reduce_elements("sum", x, axes, keepdims, te.sum, dtype)
    middle = te.compute(added.shape, lambda *i: added(*i) / count, name="T_mean")
    sums = reduce_axes(x, axes)

    def squared_distance(*i: te.Expr) -> te.Expr | ReductionValue:
        apart = as_type(x(*operand_index(x, i, sums, keepdims)), x.dtype, dtype) - middle(*i)
        return te.sum(apart * apart, axis=list(sums.values())) if sums else apart * apart

    spread = te.compute(added.shape, squared_distance, name="T_squares")
    return te.compute(added.shape, lambda *i: as_type(last(spread(*i) / count), dtype, x.dtype), name=f"T_{name}")


def first_of(best: Elements, least: bool, dtype: str) -> te.Reducer:
    """The reducer of (index, value) that keeps the best value, of equal ones that with the least index. NaN is better
    than all numbers."""

    def combine(a: Sequence[te.Expr], b: Sequence[te.Expr]) -> tuple[te.Expr, te.Expr]:
        keep = te.any(best(a[1], b[1]), te.all(t_call("EQ", a[1], b[1]), a[0] < b[0]))
        if is_float(dtype):
            other_is_worse = te.any(t_call("EQ", b[1], b[1]), a[0] < b[0])
            keep = te.any(keep, te.all(t_call("NE", a[1], a[1]), other_is_worse))
        return te.Select(keep, a[0], b[0]), te.Select(keep, a[1], b[1])

    def start(index: str, value: str) -> tuple[te.Expr, te.Expr]:
        if is_float(dtype):
            return te.max_value(index), te.infinity(dtype) if least else -te.infinity(dtype)
        return te.max_value(index), te.max_value(dtype) if least else te.min_value(dtype)

    return te.comm_reducer(combine, start, name="argbest")


def _arg(name: str, best: Elements, least: bool, doc: str) -> Callable[..., te.Tensor]:
    def operator(data: te.Tensor, axis: int | None = None, keepdims: bool = False, dtype: str = "int32") -> te.Tensor:
        x = tensor(name, "data", data)
        axes = tuple(range(x.ndim)) if axis is None else (axis_of(name, axis, x.ndim),)
        sums = reduce_axes(x, axes)
        flat_index: te.Size = 0
        for a, k in sums.items():
            flat_index = flat_index * x.shape[a] + k if a else k
        index = flat_index if axis is None else next(iter(sums.values()))
        compared = "int8" if x.dtype == "bool" else x.dtype
        reducer = first_of(best, least, compared)
        where, _ = te.compute(
            reduced_shape(x.shape, axes, keepdims),
            lambda *i: reducer(
                (index, as_type(x(*operand_index(x, i, sums, keepdims)), x.dtype, compared)), axis=list(sums.values())
            ),
            name=f"T_{name}",
        )
        return narrow(where, dtype)

    operator.__name__ = operator.__qualname__ = name
    operator.__doc__ = doc
    return operator


_INDEX = "along an axis, the first one of equals, or of the first NaN; axis None: in row-major order of all."
argmax = _arg("argmax", lambda a, b: a > b, False, f"Index of the greatest element {_INDEX}")
argmin = _arg("argmin", lambda a, b: a < b, True, f"Index of the least element {_INDEX}")
