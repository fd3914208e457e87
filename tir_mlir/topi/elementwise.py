"""Operators of one tensor, element by element."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

from tir_mlir import te
from tir_mlir.dialect.diagnostics import short_repr
from tir_mlir.te.expr import t_call
from tir_mlir.topi.operands import (
    DTYPES,
    as_type,
    constant,
    describe_tensor,
    floats,
    is_float,
    numbers,
    of_type,
    refuse,
    tensor,
    wide_type,
)

__all__ = [
    "abs",
    "acos",
    "acosh",
    "asin",
    "asinh",
    "astype",
    "atan",
    "atanh",
    "bitwise_not",
    "cast",
    "ceil",
    "clip",
    "cos",
    "cosh",
    "erf",
    "exp",
    "exp2",
    "expm1",
    "floor",
    "isfinite",
    "isinf",
    "isnan",
    "log",
    "log1p",
    "log2",
    "log10",
    "logical_not",
    "negative",
    "reciprocal",
    "round",
    "rsqrt",
    "sigmoid",
    "sign",
    "sin",
    "sinh",
    "sqrt",
    "square",
    "tan",
    "tanh",
    "trunc",
]  # fmt: skip


Unary = TypeVar("Unary", bound=Callable[..., te.Tensor])


def map_elements(name: str, x: te.Tensor, function: Callable[[Any], Any]) -> te.Tensor:
    """The function of every element of a tensor."""
    return te.compute(x.shape, lambda *i: function(x(*i)), name=f"T_{name}")


def _float_unary(function: Callable[[Any], Any], wide: bool = False) -> Callable[[Unary], Unary]:
    """Make a declaration the function of every element of a tensor of floats; `wide`: computed in the wide type and
    rounded once, for a function of several steps."""

    def decorate(declared: Unary) -> Unary:
        @functools.wraps(declared)
        def operator(x: Any) -> te.Tensor:
            operand = floats(declared.__name__, "x", x)
            dtype = operand.dtype
            middle = wide_type(dtype) if wide else dtype
            element = lambda v: as_type(function(as_type(v, dtype, middle)), middle, dtype)  # noqa: E731
            return map_elements(declared.__name__, operand, element)

        return operator  # pyright: ignore[reportReturnType]

    return decorate


@_float_unary(te.exp)
def exp(x: Any) -> te.Tensor:
    """e to the power x.

        topi.exp(x)     # x: (n, m) -> (n, m)

    x: a tensor of floats of any shape -> a tensor of its shape and type, element by element. Errors: GraphError
    for a tensor of another type; fix: `topi.astype(x, "float32")`.
    """
    ...


@_float_unary(te.exp2)
def exp2(x: Any) -> te.Tensor:
    """2 to the power x.

        topi.exp2(x)     # x: (n, m) -> (n, m)

    x: a tensor of floats of any shape -> a tensor of its shape and type, element by element. Errors: GraphError
    for a tensor of another type; fix: `topi.astype(x, "float32")`.
    """
    ...


@_float_unary(te.expm1)
def expm1(x: Any) -> te.Tensor:
    """exp(x) - 1.

        topi.expm1(x)     # x: (n, m) -> (n, m)

    x: a tensor of floats of any shape -> a tensor of its shape and type, element by element. Errors: GraphError
    for a tensor of another type; fix: `topi.astype(x, "float32")`.
    """
    ...


@_float_unary(te.log)
def log(x: Any) -> te.Tensor:
    """Natural logarithm.

        topi.log(x)     # x: (n, m) -> (n, m)

    x: a tensor of floats of any shape -> a tensor of its shape and type, element by element. Errors: GraphError
    for a tensor of another type; fix: `topi.astype(x, "float32")`.
    """
    ...


@_float_unary(te.log2)
def log2(x: Any) -> te.Tensor:
    """Logarithm to base 2.

        topi.log2(x)     # x: (n, m) -> (n, m)

    x: a tensor of floats of any shape -> a tensor of its shape and type, element by element. Errors: GraphError
    for a tensor of another type; fix: `topi.astype(x, "float32")`.
    """
    ...


@_float_unary(te.log10)
def log10(x: Any) -> te.Tensor:
    """Logarithm to base 10.

        topi.log10(x)     # x: (n, m) -> (n, m)

    x: a tensor of floats of any shape -> a tensor of its shape and type, element by element. Errors: GraphError
    for a tensor of another type; fix: `topi.astype(x, "float32")`.
    """
    ...


@_float_unary(te.log1p)
def log1p(x: Any) -> te.Tensor:
    """log(1 + x).

        topi.log1p(x)     # x: (n, m) -> (n, m)

    x: a tensor of floats of any shape -> a tensor of its shape and type, element by element. Errors: GraphError
    for a tensor of another type; fix: `topi.astype(x, "float32")`.
    """
    ...


@_float_unary(te.sqrt)
def sqrt(x: Any) -> te.Tensor:
    """Square root.

        topi.sqrt(x)     # x: (n, m) -> (n, m)

    x: a tensor of floats of any shape -> a tensor of its shape and type, element by element. Errors: GraphError
    for a tensor of another type; fix: `topi.astype(x, "float32")`.
    """
    ...


@_float_unary(te.rsqrt)
def rsqrt(x: Any) -> te.Tensor:
    """1 / sqrt(x).

        topi.rsqrt(x)     # x: (n, m) -> (n, m)

    x: a tensor of floats of any shape -> a tensor of its shape and type, element by element. Errors: GraphError
    for a tensor of another type; fix: `topi.astype(x, "float32")`.
    """
    ...


@_float_unary(te.sin)
def sin(x: Any) -> te.Tensor:
    """Sine.

        topi.sin(x)     # x: (n, m) -> (n, m)

    x: a tensor of floats of any shape -> a tensor of its shape and type, element by element. Errors: GraphError
    for a tensor of another type; fix: `topi.astype(x, "float32")`.
    """
    ...


@_float_unary(te.cos)
def cos(x: Any) -> te.Tensor:
    """Cosine.

        topi.cos(x)     # x: (n, m) -> (n, m)

    x: a tensor of floats of any shape -> a tensor of its shape and type, element by element. Errors: GraphError
    for a tensor of another type; fix: `topi.astype(x, "float32")`.
    """
    ...


@_float_unary(te.tan)
def tan(x: Any) -> te.Tensor:
    """Tangent.

        topi.tan(x)     # x: (n, m) -> (n, m)

    x: a tensor of floats of any shape -> a tensor of its shape and type, element by element. Errors: GraphError
    for a tensor of another type; fix: `topi.astype(x, "float32")`.
    """
    ...


@_float_unary(te.asin)
def asin(x: Any) -> te.Tensor:
    """Arc sine.

        topi.asin(x)     # x: (n, m) -> (n, m)

    x: a tensor of floats of any shape -> a tensor of its shape and type, element by element. Errors: GraphError
    for a tensor of another type; fix: `topi.astype(x, "float32")`.
    """
    ...


@_float_unary(te.acos)
def acos(x: Any) -> te.Tensor:
    """Arc cosine.

        topi.acos(x)     # x: (n, m) -> (n, m)

    x: a tensor of floats of any shape -> a tensor of its shape and type, element by element. Errors: GraphError
    for a tensor of another type; fix: `topi.astype(x, "float32")`.
    """
    ...


@_float_unary(te.atan)
def atan(x: Any) -> te.Tensor:
    """Arc tangent.

        topi.atan(x)     # x: (n, m) -> (n, m)

    x: a tensor of floats of any shape -> a tensor of its shape and type, element by element. Errors: GraphError
    for a tensor of another type; fix: `topi.astype(x, "float32")`.
    """
    ...


@_float_unary(te.sinh)
def sinh(x: Any) -> te.Tensor:
    """Hyperbolic sine.

        topi.sinh(x)     # x: (n, m) -> (n, m)

    x: a tensor of floats of any shape -> a tensor of its shape and type, element by element. Errors: GraphError
    for a tensor of another type; fix: `topi.astype(x, "float32")`.
    """
    ...


@_float_unary(te.cosh)
def cosh(x: Any) -> te.Tensor:
    """Hyperbolic cosine.

        topi.cosh(x)     # x: (n, m) -> (n, m)

    x: a tensor of floats of any shape -> a tensor of its shape and type, element by element. Errors: GraphError
    for a tensor of another type; fix: `topi.astype(x, "float32")`.
    """
    ...


@_float_unary(te.asinh)
def asinh(x: Any) -> te.Tensor:
    """Inverse hyperbolic sine.

        topi.asinh(x)     # x: (n, m) -> (n, m)

    x: a tensor of floats of any shape -> a tensor of its shape and type, element by element. Errors: GraphError
    for a tensor of another type; fix: `topi.astype(x, "float32")`.
    """
    ...


@_float_unary(te.acosh)
def acosh(x: Any) -> te.Tensor:
    """Inverse hyperbolic cosine.

        topi.acosh(x)     # x: (n, m) -> (n, m)

    x: a tensor of floats of any shape -> a tensor of its shape and type, element by element. Errors: GraphError
    for a tensor of another type; fix: `topi.astype(x, "float32")`.
    """
    ...


@_float_unary(te.atanh)
def atanh(x: Any) -> te.Tensor:
    """Inverse hyperbolic tangent.

        topi.atanh(x)     # x: (n, m) -> (n, m)

    x: a tensor of floats of any shape -> a tensor of its shape and type, element by element. Errors: GraphError
    for a tensor of another type; fix: `topi.astype(x, "float32")`.
    """
    ...


@_float_unary(te.tanh)
def tanh(x: Any) -> te.Tensor:
    """Hyperbolic tangent.

        topi.tanh(x)     # x: (n, m) -> (n, m)

    x: a tensor of floats of any shape -> a tensor of its shape and type, element by element. Errors: GraphError
    for a tensor of another type; fix: `topi.astype(x, "float32")`.
    """
    ...


@_float_unary(te.sigmoid, wide=True)
def sigmoid(x: Any) -> te.Tensor:
    """1 / (1 + exp(-x)).

        topi.sigmoid(x)     # x: (n, m) -> (n, m)

    x: a tensor of floats of any shape -> a tensor of its shape and type, element by element. Errors: GraphError
    for a tensor of another type; fix: `topi.astype(x, "float32")`.
    """
    ...


@_float_unary(te.erf)
def erf(x: Any) -> te.Tensor:
    """Error function.

        topi.erf(x)     # x: (n, m) -> (n, m)

    x: a tensor of floats of any shape -> a tensor of its shape and type, element by element. Errors: GraphError
    for a tensor of another type; fix: `topi.astype(x, "float32")`.
    """
    ...


@_float_unary(te.floor)
def floor(x: Any) -> te.Tensor:
    """The greatest integer not above x.

        topi.floor(x)     # x: (n, m) -> (n, m)

    x: a tensor of floats of any shape -> a tensor of its shape and type, element by element. Errors: GraphError
    for a tensor of another type; fix: `topi.astype(x, "float32")`.
    """
    ...


@_float_unary(te.ceil)
def ceil(x: Any) -> te.Tensor:
    """The least integer not below x.

        topi.ceil(x)     # x: (n, m) -> (n, m)

    x: a tensor of floats of any shape -> a tensor of its shape and type, element by element. Errors: GraphError
    for a tensor of another type; fix: `topi.astype(x, "float32")`.
    """
    ...


@_float_unary(te.round)
def round(x: Any) -> te.Tensor:
    """The nearest integer, ties to even.

        topi.round(x)     # x: (n, m) -> (n, m)

    x: a tensor of floats of any shape -> a tensor of its shape and type, element by element. Errors: GraphError
    for a tensor of another type; fix: `topi.astype(x, "float32")`.
    """
    ...


@_float_unary(te.trunc)
def trunc(x: Any) -> te.Tensor:
    """x without its fraction.

        topi.trunc(x)     # x: (n, m) -> (n, m)

    x: a tensor of floats of any shape -> a tensor of its shape and type, element by element. Errors: GraphError
    for a tensor of another type; fix: `topi.astype(x, "float32")`.
    """
    ...


@_float_unary(te.isnan)
def isnan(x: Any) -> te.Tensor:
    """Whether x is not a number, as bool.

        topi.isnan(x)     # x: (n, m) -> (n, m)

    x: a tensor of floats of any shape -> a tensor of its shape, of bool, element by element. Errors: GraphError
    for a tensor of another type; fix: `topi.astype(x, "float32")`.
    """
    ...


@_float_unary(te.isinf)
def isinf(x: Any) -> te.Tensor:
    """Whether x is infinite, as bool.

        topi.isinf(x)     # x: (n, m) -> (n, m)

    x: a tensor of floats of any shape -> a tensor of its shape, of bool, element by element. Errors: GraphError
    for a tensor of another type; fix: `topi.astype(x, "float32")`.
    """
    ...


@_float_unary(te.isfinite)
def isfinite(x: Any) -> te.Tensor:
    """Whether x is neither infinite nor NaN, as bool.

        topi.isfinite(x)     # x: (n, m) -> (n, m)

    x: a tensor of floats of any shape -> a tensor of its shape, of bool, element by element. Errors: GraphError
    for a tensor of another type; fix: `topi.astype(x, "float32")`.
    """
    ...


def _number(name: str, x: Any) -> te.Tensor:
    return numbers(name, "x", tensor(name, "x", x))


def abs(x: Any) -> te.Tensor:
    """The absolute value of each element.

    x: integers or floats, of any shape -> the same shape and type. The least integer of a type is its own absolute
    value.
    """
    return map_elements("abs", _number("abs", x), te.abs)


def negative(x: Any) -> te.Tensor:
    """The number with the other sign, element by element.

    x: integers or floats, of any shape -> the same shape and type.
    """
    return map_elements("negative", _number("negative", x), lambda v: -v)


def square(x: Any) -> te.Tensor:
    """x * x, element by element.

    x: integers or floats, of any shape -> the same shape and type; integers wrap.
    """
    return map_elements("square", _number("square", x), lambda v: v * v)


def reciprocal(x: Any) -> te.Tensor:
    """1 / x, element by element.

    x: floats, of any shape -> the same shape and type; infinity of 0.
    """
    operand = floats("reciprocal", "x", x)
    return map_elements("reciprocal", operand, lambda v: constant(1, operand.dtype) / v)


def sign(x: Any) -> te.Tensor:
    """-1, 0 or 1: the sign of each element.

    x: integers or floats, of any shape -> the same shape and type. 0 of NaN; 0 or 1 of numbers without a sign.
    """
    operand = _number("sign", x)
    zero, unit = constant(0, operand.dtype), constant(1, operand.dtype)
    if operand.dtype.startswith("u"):
        return map_elements("sign", operand, lambda v: te.Select(v > zero, unit, zero))
    return map_elements("sign", operand, lambda v: te.Select(v > zero, unit, te.Select(v < zero, zero - unit, zero)))


def logical_not(x: Any) -> te.Tensor:
    """Whether each element is false.

    x: bool, of any shape -> bool of the same shape.
    """
    operand = of_type("logical_not", "x", tensor("logical_not", "x", x), ("bool",), "of bool")
    return map_elements("logical_not", operand, lambda v: t_call("Not", v))


def bitwise_not(x: Any) -> te.Tensor:
    """The bits of each element inverted, `~x`.

    x: integers, of any shape -> the same shape and type. Errors: GraphError for floats.
    """
    operand = _number("bitwise_not", x)
    if is_float(operand.dtype):
        raise refuse(
            "bitwise_not", f"{describe_tensor('x', operand)} is not of integers", 'cast it: astype(x, "int32")'
        )
    return map_elements("bitwise_not", operand, te.bitwise_not)


def clip(x: Any, a_min: Any, a_max: Any) -> te.Tensor:
    """Each element limited to a_min..a_max.

    x: integers or floats, of any shape; a_min, a_max: numbers, or None for no limit on that side -> the shape and
    type of x.
    """
    operand = _number("clip", x)
    low, high = (None if v is None else constant(v, operand.dtype) for v in (a_min, a_max))

    def clamp(v: Any) -> Any:
        v = v if low is None else te.max(v, low)
        return v if high is None else te.min(v, high)

    return map_elements("clip", operand, clamp)


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
    return map_elements("cast", operand, lambda v: is_nonzero(v, operand.dtype) if dtype == "bool" else v.astype(dtype))


astype = cast


def is_nonzero(value: te.Expr, dtype: str) -> te.Expr:
    """Whether a number is not 0."""
    return t_call("NE", value, constant(0, dtype))


def identity(x: Any) -> te.Tensor:
    """The same elements in a tensor of their own."""
    return map_elements("identity", tensor("identity", "x", x), lambda v: v)
