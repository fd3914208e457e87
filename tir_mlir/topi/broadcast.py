"""Operators of two tensors, which broadcast as in NumPy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tir_mlir import te
from tir_mlir.topi.operands import constant, is_float, one_type, refuse, tensor
from tir_mlir.topi.sizes import Size, is_one, same, shown

Index = Sequence[Any]


def broadcast_shape(op: str, *shapes: Sequence[Size]) -> tuple[Size, ...]:
    """The shape that shapes broadcast to: aligned at the last axis, sizes equal or 1."""
    rank = max(map(len, shapes))
    result: list[Size] = []
    for axis in range(-rank, 0):
        sizes = [s[axis] for s in shapes if len(s) >= -axis]
        wide = [s for s in sizes if not is_one(s)]
        for other in wide[1:]:
            if not same(wide[0], other):
                told = " and ".join(map(shown, shapes))
                raise refuse(
                    op,
                    f"shapes {told} do not broadcast: axis {axis} has {wide[0]} and {other}",
                    "reshape or expand_dims one of them so that sizes are equal or 1",
                )
        result.append(wide[0] if wide else 1)
    return tuple(result)


def read(x: te.Tensor, index: Index, shape: Sequence[Size]) -> te.Expr:
    """The element of a tensor that a broadcast to `shape` has at an index."""
    index, shape = index[len(shape) - x.ndim :], shape[len(shape) - x.ndim :]
    return x(*(0 if is_one(n) and not is_one(m) else i for i, n, m in zip(index, x.shape, shape, strict=True)))


def _binary(name: str, combine: Callable[[str], Callable[[Any, Any], Any]], doc: str, result: str = "") -> Any:
    """An operator of two tensors or numbers; `combine(dtype)` is its function of two elements."""

    def operator(lhs: Any, rhs: Any) -> te.Tensor:
        one = lhs if isinstance(lhs, te.Tensor) else rhs
        dtype = tensor(name, "lhs", one).dtype
        if isinstance(lhs, te.Tensor) and isinstance(rhs, te.Tensor):
            one_type(name, lhs=lhs, rhs=rhs)
        shape = broadcast_shape(name, *(x.shape for x in (lhs, rhs) if isinstance(x, te.Tensor)))

        def value(x: Any, index: Index) -> Any:
            return read(x, index, shape) if isinstance(x, te.Tensor) else constant(x, dtype)

        function = combine(dtype)
        return te.compute(shape, lambda *i: function(value(lhs, i), value(rhs, i)), name=f"T_{name}")

    operator.__name__ = operator.__qualname__ = name
    operator.__doc__ = doc
    return operator


def _divide(dtype: str) -> Callable[[Any, Any], Any]:
    return (lambda a, b: a / b) if is_float(dtype) else te.truncdiv


add = _binary("add", lambda _: lambda a, b: a + b, "lhs + rhs.")
subtract = _binary("subtract", lambda _: lambda a, b: a - b, "lhs - rhs.")
multiply = _binary("multiply", lambda _: lambda a, b: a * b, "lhs * rhs.")
divide = _binary("divide", _divide, "lhs / rhs; of integers the quotient without its fraction, as in C.")
maximum = _binary("maximum", lambda _: te.max, "The greater of lhs and rhs.")
minimum = _binary("minimum", lambda _: te.min, "The lesser of lhs and rhs.")
