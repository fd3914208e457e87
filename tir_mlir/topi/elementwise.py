"""Operators of one tensor, element by element."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tir_mlir import te
from tir_mlir.dialect.diagnostics import short_repr
from tir_mlir.te.expr import t_call
from tir_mlir.topi.operands import DTYPES, constant, described, floats, is_float, numbers, of_type, refuse, tensor

__all__ = [
    "abs", "acos", "acosh", "asin", "asinh", "astype", "atan", "atanh", "bitwise_not", "cast", "ceil", "clip",
    "cos", "cosh", "erf", "exp", "exp2", "floor", "isfinite", "isinf", "isnan", "log", "log10", "log1p", "log2",
    "logical_not", "negative", "reciprocal", "round", "rsqrt", "sigmoid", "sign", "sin", "sinh", "sqrt", "square",
    "tan", "tanh", "trunc",
]  # fmt: skip


def mapped(name: str, x: te.Tensor, function: Callable[[Any], Any]) -> te.Tensor:
    """The function of every element of a tensor."""
    return te.compute(x.shape, lambda *i: function(x(*i)), name=f"T_{name}")


def _of_floats(name: str, function: Callable[[Any], Any], doc: str) -> Any:
    def operator(x: Any) -> te.Tensor:
        return mapped(name, floats(name, "x", x), function)

    kind = ", of bool" if "as bool" in doc else " and type"
    operator.__name__ = operator.__qualname__ = name
    operator.__doc__ = f"""{doc}

        topi.{name}(x)     # x: (n, m) -> (n, m)

    x: a tensor of floats of any shape -> a tensor of its shape{kind}, element by element.
    Errors: GraphError for a tensor of another type; fix: `topi.astype(x, "float32")`.
    """
    return operator


exp = _of_floats("exp", te.exp, "e to the power x.")
exp2 = _of_floats("exp2", te.exp2, "2 to the power x.")
log = _of_floats("log", te.log, "Natural logarithm.")
log2 = _of_floats("log2", te.log2, "Logarithm to base 2.")
log10 = _of_floats("log10", te.log10, "Logarithm to base 10.")
log1p = _of_floats("log1p", te.log1p, "log(1 + x).")
sqrt = _of_floats("sqrt", te.sqrt, "Square root.")
rsqrt = _of_floats("rsqrt", te.rsqrt, "1 / sqrt(x).")
sin = _of_floats("sin", te.sin, "Sine.")
cos = _of_floats("cos", te.cos, "Cosine.")
tan = _of_floats("tan", te.tan, "Tangent.")
asin = _of_floats("asin", te.asin, "Arc sine.")
acos = _of_floats("acos", te.acos, "Arc cosine.")
atan = _of_floats("atan", te.atan, "Arc tangent.")
sinh = _of_floats("sinh", te.sinh, "Hyperbolic sine.")
cosh = _of_floats("cosh", te.cosh, "Hyperbolic cosine.")
asinh = _of_floats("asinh", te.asinh, "Inverse hyperbolic sine.")
acosh = _of_floats("acosh", te.acosh, "Inverse hyperbolic cosine.")
atanh = _of_floats("atanh", te.atanh, "Inverse hyperbolic tangent.")
tanh = _of_floats("tanh", te.tanh, "Hyperbolic tangent.")
sigmoid = _of_floats("sigmoid", te.sigmoid, "1 / (1 + exp(-x)).")
erf = _of_floats("erf", te.erf, "Error function.")
floor = _of_floats("floor", te.floor, "The greatest integer not above x.")
ceil = _of_floats("ceil", te.ceil, "The least integer not below x.")
round = _of_floats("round", te.round, "The nearest integer, ties to even.")
trunc = _of_floats("trunc", te.trunc, "x without its fraction.")
isnan = _of_floats("isnan", te.isnan, "Whether x is not a number, as bool.")
isinf = _of_floats("isinf", te.isinf, "Whether x is infinite, as bool.")
isfinite = _of_floats("isfinite", te.isfinite, "Whether x is neither infinite nor NaN, as bool.")


def _number(name: str, x: Any) -> te.Tensor:
    return numbers(name, "x", tensor(name, "x", x))


def abs(x: Any) -> te.Tensor:
    """The absolute value of each element.

    x: integers or floats, of any shape -> the same shape and type. The least integer of a type is its own absolute
    value.
    """
    return mapped("abs", _number("abs", x), te.abs)


def negative(x: Any) -> te.Tensor:
    """The number with the other sign, element by element.

    x: integers or floats, of any shape -> the same shape and type.
    """
    return mapped("negative", _number("negative", x), lambda v: -v)


def square(x: Any) -> te.Tensor:
    """x * x, element by element.

    x: integers or floats, of any shape -> the same shape and type; integers wrap.
    """
    return mapped("square", _number("square", x), lambda v: v * v)


def reciprocal(x: Any) -> te.Tensor:
    """1 / x, element by element.

    x: floats, of any shape -> the same shape and type; infinity of 0.
    """
    operand = floats("reciprocal", "x", x)
    return mapped("reciprocal", operand, lambda v: constant(1, operand.dtype) / v)


def sign(x: Any) -> te.Tensor:
    """-1, 0 or 1: the sign of each element.

    x: integers or floats, of any shape -> the same shape and type. 0 of NaN.
    """
    operand = _number("sign", x)
    zero, unit = constant(0, operand.dtype), constant(1, operand.dtype)
    return mapped("sign", operand, lambda v: te.Select(v > zero, unit, te.Select(v < zero, zero - unit, zero)))


def logical_not(x: Any) -> te.Tensor:
    """Whether each element is false.

    x: bool, of any shape -> bool of the same shape.
    """
    operand = of_type("logical_not", "x", tensor("logical_not", "x", x), ("bool",), "of bool")
    return mapped("logical_not", operand, lambda v: t_call("Not", v))


def bitwise_not(x: Any) -> te.Tensor:
    """The bits of each element inverted, `~x`.

    x: integers, of any shape -> the same shape and type. Errors: GraphError for floats.
    """
    operand = _number("bitwise_not", x)
    if is_float(operand.dtype):
        raise refuse("bitwise_not", f"{described('x', operand)} is not of integers", 'cast it: astype(x, "int32")')
    return mapped("bitwise_not", operand, te.bitwise_not)


def clip(x: Any, a_min: Any, a_max: Any) -> te.Tensor:
    """Each element limited to a_min..a_max.

    x: integers or floats, of any shape; a_min, a_max: numbers, or None for no limit on that side -> the shape and
    type of x.
    """
    operand = _number("clip", x)
    low, high = (None if v is None else constant(v, operand.dtype) for v in (a_min, a_max))

    def limited(v: Any) -> Any:
        v = v if low is None else te.max(v, low)
        return v if high is None else te.min(v, high)

    return mapped("clip", operand, limited)


def cast(x: Any, dtype: str) -> te.Tensor:
    """The elements in another type: floats lose their fraction in integers; bool is whether a number is not 0.

    x: any shape; dtype: a type, as text -> a tensor of that type, x itself if it has it. Errors: GraphError for an
    unknown type.
    """
    operand = tensor("astype", "x", x)
    if dtype not in DTYPES:
        raise refuse("astype", f"dtype {short_repr(dtype)} is not supported", f"use one of {', '.join(DTYPES)}")
    if operand.dtype == dtype:
        return operand
    return mapped("cast", operand, lambda v: truth(v, operand.dtype) if dtype == "bool" else v.astype(dtype))


astype = cast


def truth(value: te.Expr, dtype: str) -> te.Expr:
    """Whether a number is not 0."""
    return t_call("NE", value, constant(0, dtype))


def identity(x: Any) -> te.Tensor:
    """The same elements in a tensor of their own."""
    return mapped("identity", tensor("identity", "x", x), lambda v: v)
