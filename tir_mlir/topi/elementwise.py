"""Operators of one tensor, element by element."""

from __future__ import annotations

from collections.abc import Callable

from tir_mlir import te
from tir_mlir.dialect.diagnostics import short_repr
from tir_mlir.te.expr import t_call
from tir_mlir.topi.operands import DTYPES, Number, constant, describe_tensor, floats, is_float, numbers, refuse, tensor

__all__ = ["astype", "bitwise_not", "cast", "clip", "negative", "reciprocal", "sign", "square"]


def map_elements(name: str, x: te.Tensor, function: Callable[[te.Expr], te.Expr]) -> te.Tensor:
    """The function of every element of a tensor."""
    return te.compute(x.shape, lambda *i: function(x(*i)), name=f"T_{name}")


def _number(name: str, x: te.Tensor) -> te.Tensor:
    return numbers(name, "x", tensor(name, "x", x))


def negative(x: te.Tensor) -> te.Tensor:
    """The number with the other sign, element by element.

    x: integers or floats, of any shape -> the same shape and type.
    """
    return map_elements("negative", _number("negative", x), lambda v: -v)


def square(x: te.Tensor) -> te.Tensor:
    """x * x, element by element.

    x: integers or floats, of any shape -> the same shape and type; integers wrap.
    """
    return map_elements("square", _number("square", x), lambda v: v * v)


def reciprocal(x: te.Tensor) -> te.Tensor:
    """1 / x, element by element.

    x: floats, of any shape -> the same shape and type; infinity of 0.
    """
    operand = floats("reciprocal", "x", x)
    return map_elements("reciprocal", operand, lambda v: constant(1, operand.dtype) / v)


def sign(x: te.Tensor) -> te.Tensor:
    """-1, 0 or 1: the sign of each element.

    x: integers or floats, of any shape -> the same shape and type. 0 of NaN; 0 or 1 of numbers without a sign.
    """
    operand = _number("sign", x)
    zero, unit = constant(0, operand.dtype), constant(1, operand.dtype)
    if operand.dtype.startswith("u"):
        return map_elements("sign", operand, lambda v: te.Select(v > zero, unit, zero))
    return map_elements("sign", operand, lambda v: te.Select(v > zero, unit, te.Select(v < zero, zero - unit, zero)))


def bitwise_not(x: te.Tensor) -> te.Tensor:
    """The bits of each element inverted, `~x`.

    x: integers, of any shape -> the same shape and type. Errors: GraphError for floats.
    """
    operand = _number("bitwise_not", x)
    if is_float(operand.dtype):
        raise refuse(
            "bitwise_not", f"{describe_tensor('x', operand)} is not of integers", 'cast it: astype(x, "int32")'
        )
    return map_elements("bitwise_not", operand, te.bitwise_not)


def clip(x: te.Tensor, a_min: Number | None, a_max: Number | None) -> te.Tensor:
    """Each element limited to a_min..a_max.

    x: integers or floats, of any shape; a_min, a_max: numbers, or None for no limit on that side -> the shape and
    type of x.
    """
    operand = _number("clip", x)
    low, high = (None if v is None else constant(v, operand.dtype) for v in (a_min, a_max))

    def clamp(v: te.Expr) -> te.Expr:
        v = v if low is None else te.max(v, low)
        return v if high is None else te.min(v, high)

    return map_elements("clip", operand, clamp)


def cast(x: te.Tensor, dtype: str) -> te.Tensor:
    """The elements in another type: floats lose their fraction in integers; bool is whether a number is not 0.

    x: any shape; dtype: a type, as text -> a tensor of that type, x itself if it has it. Errors: GraphError for an
    unknown type.
    """
    operand = tensor("astype", "x", x)
    if dtype not in DTYPES:
        raise refuse("astype", f"dtype {short_repr(dtype)} is not supported", f"use one of {', '.join(DTYPES)}")
    if operand.dtype == dtype:
        return operand
    return map_elements("cast", operand, lambda v: is_nonzero(v, operand.dtype) if dtype == "bool" else v.astype(dtype))


astype = cast


def is_nonzero(value: te.Expr, dtype: str) -> te.Expr:
    """Whether a number is not 0."""
    return t_call("NE", value, constant(0, dtype))


def identity(x: te.Tensor) -> te.Tensor:
    """The same elements in a tensor of their own."""
    return map_elements("identity", tensor("identity", "x", x), lambda v: v)
