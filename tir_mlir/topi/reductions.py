"""Reductions over axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tir_mlir import te
from tir_mlir.topi.operands import axes_of, constant, floats, tensor
from tir_mlir.topi.sizes import total


def reduced_shape(shape: Sequence[Any], axes: Sequence[int], keepdims: bool) -> tuple[Any, ...]:
    """The shape without the axes, or with 1 for them."""
    if keepdims:
        return tuple(1 if a in axes else n for a, n in enumerate(shape))
    return tuple(n for a, n in enumerate(shape) if a not in axes)


def reduce_axes(x: te.Tensor, axes: Sequence[int]) -> dict[int, Any]:
    """A reduce axis for each of the axes, by its number."""
    return {a: te.reduce_axis((0, x.shape[a]), name=f"k{a}") for a in sorted(axes)}


def placed(x: te.Tensor, index: Sequence[Any], sums: dict[int, Any], keepdims: bool = False) -> tuple[Any, ...]:
    """The index of an element of x: that of the result with the reduce axes put in."""
    if keepdims:
        return tuple(sums.get(a, index[a]) for a in range(x.ndim))
    rest = iter(index)
    return tuple(sums[a] if a in sums else next(rest) for a in range(x.ndim))


def _reduction(name: str, reducer: Any, doc: str) -> Any:
    def operator(data: Any, axis: Any = None, keepdims: bool = False) -> te.Tensor:
        x = tensor(name, "data", data)
        axes = axes_of(name, axis, x.ndim)
        shape = reduced_shape(x.shape, axes, keepdims)
        if not axes:
            return te.compute(shape, lambda *i: x(*i), name=f"T_{name}")
        sums = reduce_axes(x, axes)
        return te.compute(
            shape,
            lambda *i: reducer(x(*placed(x, i, sums, keepdims)), axis=list(sums.values())),
            name=f"T_{name}",
        )

    operator.__name__ = operator.__qualname__ = name
    operator.__doc__ = doc
    return operator


_AXES = "axis: one, several or None for all; keepdims: keep them with size 1."
sum = _reduction("sum", te.sum, f"Sum over axes. {_AXES}")
max = _reduction("max", te.max, f"Maximum over axes. {_AXES}")
min = _reduction("min", te.min, f"Minimum over axes. {_AXES}")
prod = _reduction("prod", te.prod, f"Product over axes. {_AXES}")


def mean(data: Any, axis: Any = None, keepdims: bool = False) -> te.Tensor:
    """Mean over axes of floats. axis: one, several or None for all; keepdims: keep them with size 1."""
    x = floats("mean", "data", data)
    count = total([x.shape[a] for a in axes_of("mean", axis, x.ndim)])
    added = sum(x, axis, keepdims)
    return te.compute(added.shape, lambda *i: added(*i) / constant(count, x.dtype), name="T_mean")
