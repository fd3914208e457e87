"""Scalar functions of tensor expressions: mathematics, selection, conditions, casts, type limits.

They take and return expressions, as the elements of tensors inside `te.compute`; numbers of Python are constants.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable
from typing import Any, TypeVar

from tir_mlir.dialect.ir import dtypes
from tir_mlir.te.expr import Expr, boolean
from tir_mlir.te.expr import t_call as _word
from tir_mlir.te.source_location import refuse

__all__ = [
    "Select",
    "abs",
    "acos",
    "acosh",
    "add",
    "all",
    "any",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "bitwise_not",
    "cast",
    "ceil",
    "ceildiv",
    "clz",
    "copysign",
    "cos",
    "cosh",
    "div",
    "erf",
    "exp",
    "exp2",
    "expm1",
    "fabs",
    "floor",
    "floordiv",
    "floormod",
    "fma",
    "if_then_else",
    "indexdiv",
    "indexmod",
    "infinity",
    "isfinite",
    "isinf",
    "isnan",
    "likely",
    "log",
    "log1p",
    "log2",
    "log10",
    "max_value",
    "min_value",
    "multiply",
    "nearbyint",
    "popcount",
    "pow",
    "power",
    "round",
    "rsqrt",
    "sigmoid",
    "sin",
    "sinh",
    "sqrt",
    "subtract",
    "tan",
    "tanh",
    "trunc",
    "truncdiv",
    "truncmod",
]  # fmt: skip


_Declared = TypeVar("_Declared", bound=Callable[..., Any])


def _scalar(word: str = "") -> Callable[[_Declared], _Declared]:
    """Make a declaration a call of the function of `T` with the same name, or the name `word`."""

    def decorate(declared: _Declared) -> _Declared:
        name = word or declared.__name__

        @functools.wraps(declared)
        def call(*args: Any, **keywords: Any) -> Any:
            for arg in (*args, *keywords.values()):
                if not isinstance(arg, Expr) and hasattr(arg, "tir_call"):  # the variables of an index map
                    return arg.tir_call(name, args, keywords)
            return _word(name, *args, **keywords)

        return call  # pyright: ignore[reportReturnType]

    return decorate


@_scalar()
def exp(x: Any) -> Any:
    """e to the power x.

        te.compute((n,), lambda i: te.exp(A[i]))

    x: a float -> the same type; an integer is cast first, `te.cast(x, "float32")`.
    """


@_scalar()
def exp2(x: Any) -> Any:
    """2 to the power x.

        te.compute((n,), lambda i: te.exp2(A[i]))

    x: a float -> the same type; an integer is cast first, `te.cast(x, "float32")`.
    """


@_scalar()
def expm1(x: Any) -> Any:
    """exp(x) - 1, accurate also where x is near 0.

        te.compute((n,), lambda i: te.expm1(A[i]))

    x: a float -> the same type; an integer is cast first, `te.cast(x, "float32")`.
    """


@_scalar()
def log(x: Any) -> Any:
    """The natural logarithm of x; NaN of a negative number, -inf of 0.

        te.compute((n,), lambda i: te.log(A[i]))

    x: a float -> the same type; an integer is cast first, `te.cast(x, "float32")`.
    """


@_scalar()
def log2(x: Any) -> Any:
    """The logarithm of x to base 2; NaN of a negative number, -inf of 0.

        te.compute((n,), lambda i: te.log2(A[i]))

    x: a float -> the same type; an integer is cast first, `te.cast(x, "float32")`.
    """


@_scalar()
def log10(x: Any) -> Any:
    """The logarithm of x to base 10; NaN of a negative number, -inf of 0.

        te.compute((n,), lambda i: te.log10(A[i]))

    x: a float -> the same type; an integer is cast first, `te.cast(x, "float32")`.
    """


@_scalar()
def log1p(x: Any) -> Any:
    """log(1 + x), accurate also where x is near 0.

        te.compute((n,), lambda i: te.log1p(A[i]))

    x: a float -> the same type; an integer is cast first, `te.cast(x, "float32")`.
    """


@_scalar()
def sqrt(x: Any) -> Any:
    """The square root of x; NaN of a negative number.

        te.compute((n,), lambda i: te.sqrt(A[i]))

    x: a float -> the same type; an integer is cast first, `te.cast(x, "float32")`.
    """


@_scalar()
def rsqrt(x: Any) -> Any:
    """1 / sqrt(x): inf of 0, NaN of a negative number.

        te.compute((n,), lambda i: te.rsqrt(A[i]))

    x: a float -> the same type; an integer is cast first, `te.cast(x, "float32")`.
    """


@_scalar()
def tanh(x: Any) -> Any:
    """The hyperbolic tangent of x, in -1..1.

        te.compute((n,), lambda i: te.tanh(A[i]))

    x: a float -> the same type; an integer is cast first, `te.cast(x, "float32")`.
    """


@_scalar()
def tan(x: Any) -> Any:
    """The tangent of x, in radians.

        te.compute((n,), lambda i: te.tan(A[i]))

    x: a float -> the same type; an integer is cast first, `te.cast(x, "float32")`.
    """


@_scalar()
def sin(x: Any) -> Any:
    """The sine of x, in radians.

        te.compute((n,), lambda i: te.sin(A[i]))

    x: a float -> the same type; an integer is cast first, `te.cast(x, "float32")`.
    """


@_scalar()
def cos(x: Any) -> Any:
    """The cosine of x, in radians.

        te.compute((n,), lambda i: te.cos(A[i]))

    x: a float -> the same type; an integer is cast first, `te.cast(x, "float32")`.
    """


@_scalar()
def atan(x: Any) -> Any:
    """The angle whose tangent is x, in -pi/2..pi/2.

        te.compute((n,), lambda i: te.atan(A[i]))

    x: a float -> the same type; an integer is cast first, `te.cast(x, "float32")`.
    """


@_scalar()
def asin(x: Any) -> Any:
    """The angle whose sine is x, in -pi/2..pi/2; NaN beyond -1..1.

        te.compute((n,), lambda i: te.asin(A[i]))

    x: a float -> the same type; an integer is cast first, `te.cast(x, "float32")`.
    """


@_scalar()
def acos(x: Any) -> Any:
    """The angle whose cosine is x, in 0..pi; NaN beyond -1..1.

        te.compute((n,), lambda i: te.acos(A[i]))

    x: a float -> the same type; an integer is cast first, `te.cast(x, "float32")`.
    """


@_scalar()
def sinh(x: Any) -> Any:
    """The hyperbolic sine of x.

        te.compute((n,), lambda i: te.sinh(A[i]))

    x: a float -> the same type; an integer is cast first, `te.cast(x, "float32")`.
    """


@_scalar()
def cosh(x: Any) -> Any:
    """The hyperbolic cosine of x.

        te.compute((n,), lambda i: te.cosh(A[i]))

    x: a float -> the same type; an integer is cast first, `te.cast(x, "float32")`.
    """


@_scalar()
def asinh(x: Any) -> Any:
    """The number whose hyperbolic sine is x.

        te.compute((n,), lambda i: te.asinh(A[i]))

    x: a float -> the same type; an integer is cast first, `te.cast(x, "float32")`.
    """


@_scalar()
def acosh(x: Any) -> Any:
    """The number from 0 on whose hyperbolic cosine is x; NaN below 1.

        te.compute((n,), lambda i: te.acosh(A[i]))

    x: a float -> the same type; an integer is cast first, `te.cast(x, "float32")`.
    """


@_scalar()
def atanh(x: Any) -> Any:
    """The number whose hyperbolic tangent is x; NaN beyond -1..1.

        te.compute((n,), lambda i: te.atanh(A[i]))

    x: a float -> the same type; an integer is cast first, `te.cast(x, "float32")`.
    """


@_scalar()
def erf(x: Any) -> Any:
    """The error function of x, in -1..1.

        te.compute((n,), lambda i: te.erf(A[i]))

    x: a float -> the same type; an integer is cast first, `te.cast(x, "float32")`.
    """


@_scalar()
def sigmoid(x: Any) -> Any:
    """1 / (1 + exp(-x)), in 0..1.

        te.compute((n,), lambda i: te.sigmoid(A[i]))

    x: a float -> the same type; an integer is cast first, `te.cast(x, "float32")`.
    """


@_scalar()
def floor(x: Any) -> Any:
    """The greatest integer not above x, as a float: -0.5 -> -1.0.

        te.compute((n,), lambda i: te.floor(A[i]))

    x: a float -> the same type; an integer is cast first, `te.cast(x, "float32")`.
    """


@_scalar()
def ceil(x: Any) -> Any:
    """The least integer not below x, as a float: -0.5 -> -0.0.

        te.compute((n,), lambda i: te.ceil(A[i]))

    x: a float -> the same type; an integer is cast first, `te.cast(x, "float32")`.
    """


@_scalar()
def round(x: Any) -> Any:
    """The nearest integer, ties to even, as a float: 0.5 -> 0.0, 1.5 -> 2.0. As NumPy rounds.

        te.compute((n,), lambda i: te.round(A[i]))

    x: a float -> the same type; an integer is cast first, `te.cast(x, "float32")`.
    """


@_scalar()
def nearbyint(x: Any) -> Any:
    """The nearest integer, ties to even, as a float: the same as `te.round`.

        te.compute((n,), lambda i: te.nearbyint(A[i]))

    x: a float -> the same type; an integer is cast first, `te.cast(x, "float32")`.
    """


@_scalar()
def trunc(x: Any) -> Any:
    """x without its fraction, as a float: -1.5 -> -1.0.

        te.compute((n,), lambda i: te.trunc(A[i]))

    x: a float -> the same type; an integer is cast first, `te.cast(x, "float32")`.
    """


@_scalar()
def abs(x: Any) -> Any:
    """The absolute value of x.

        te.compute((n,), lambda i: te.abs(A[i]))

    x: an integer or a float -> the same type.
    """


@_scalar()
def isnan(x: Any) -> Any:
    """Whether x is NaN.

        te.Select(te.isnan(A[i]), 0.0, A[i])

    x: a float -> bool.
    """


@_scalar()
def isinf(x: Any) -> Any:
    """Whether x is inf or -inf.

        te.Select(te.isinf(A[i]), 0.0, A[i])

    x: a float -> bool.
    """


@_scalar()
def isfinite(x: Any) -> Any:
    """Whether x is neither infinite nor NaN.

        te.Select(te.isfinite(A[i]), A[i], 0.0)

    x: a float -> bool.
    """


@_scalar()
def popcount(x: Any) -> Any:
    """The number of bits of x that are 1: 7 -> 3.

    x: an integer -> the same type.
    """


@_scalar()
def clz(x: Any) -> Any:
    """The number of leading bits of x that are 0: of int32, 1 -> 31.

    x: an integer -> the same type.
    """


@_scalar()
def bitwise_not(x: Any) -> Any:
    """The bits of x inverted, `~x`: 0 -> -1.

    x: an integer -> the same type.
    """


@_scalar("pow")
def power(x: Any, y: Any) -> Any:
    """x to the power y.

        te.compute((n,), lambda i: te.power(A[i], 3))

    x, y: floats of one type -> that type. Of an integer x, y is a constant from 0 to 64.
    """


@_scalar()
def atan2(x: Any, y: Any) -> Any:
    """The angle of the point (y, x), in -pi..pi: as in C, the ordinate comes first.

    x, y: floats of one type -> that type.
    """


@_scalar()
def copysign(x: Any, y: Any) -> Any:
    """The magnitude of x with the sign of y: (2.0, -0.0) -> -2.0.

    x, y: floats of one type -> that type.
    """


@_scalar()
def fma(x: Any, y: Any, z: Any) -> Any:
    """x * y + z, rounded once.

    x, y, z: floats of one type -> that type.
    """


@_scalar()
def floordiv(x: Any, y: Any) -> Any:
    """x / y rounded down, the same as `x // y`: (-7, 2) -> -4.

    x, y: integers of one type -> that type; y is not 0.
    """


@_scalar()
def floormod(x: Any, y: Any) -> Any:
    """The remainder of `floordiv`, the same as `x % y`: (-7, 2) -> 1. It has the sign of y.

    x, y: integers of one type -> that type; y is not 0.
    """


@_scalar()
def truncdiv(x: Any, y: Any) -> Any:
    """x / y rounded towards zero, as in C: (-7, 2) -> -3.

    x, y: integers of one type -> that type; y is not 0.
    """


@_scalar()
def truncmod(x: Any, y: Any) -> Any:
    """The remainder of `truncdiv`, as in C: (-7, 2) -> -1. It has the sign of x.

    x, y: integers of one type, or floats, as fmod in C -> that type.
    """


@_scalar()
def ceildiv(x: Any, y: Any) -> Any:
    """x / y rounded up: (7, 2) -> 4. The number of tiles of y that cover x.

        te.compute((te.ceildiv(n, 8),), lambda t: A[t * 8])

    x, y: integers of one type -> that type; y is not 0.
    """


@_scalar("divide")
def div(x: Any, y: Any) -> Any:
    """x / y.

    x, y: floats of one type -> that type. For integers: `floordiv`, `truncdiv`, `ceildiv`.
    """


@_scalar()
def add(x: Any, y: Any) -> Any:
    """x + y.

    x, y: numbers of one type -> that type. A Python number takes the type of the other operand.
    """


@_scalar()
def subtract(x: Any, y: Any) -> Any:
    """x - y.

    x, y: numbers of one type -> that type. A Python number takes the type of the other operand.
    """


@_scalar()
def multiply(x: Any, y: Any) -> Any:
    """x * y.

    x, y: numbers of one type -> that type. A Python number takes the type of the other operand.
    """


@_scalar()
def if_then_else(condition: Any, then_value: Any, else_value: Any) -> Any:
    """One of two values, of which only the chosen one is evaluated: it may read an element that exists only then.

        te.compute((n,), lambda i: te.if_then_else(i >= 1, A[i - 1], 0.0))

    condition: bool; the values: of one type -> that type.
    """


@_scalar()
def Select(condition: Any, then_value: Any, else_value: Any) -> Any:
    """One of two values, both of which are evaluated: neither may read outside a tensor.

        te.compute((n,), lambda i: te.Select(A[i] > 0, A[i], 0.0))

    condition: bool; the values: of one type -> that type.
    """


@_scalar()
def likely(condition: Any) -> Any:
    """The condition itself: a hint of TVM that is accepted, and has no effect.

    condition: bool -> bool.
    """


indexdiv, indexmod, pow, fabs = floordiv, floormod, power, abs


def all(*args: Any) -> Expr:
    """Whether all conditions hold: `te.all(i >= 1, i < 9)`.

    args: at least one bool -> bool.
    """
    return boolean(ast.And, _require_conditions("all", args))


def any(*args: Any) -> Expr:
    """Whether one of the conditions holds: `te.any(i < 1, i >= 9)`.

    args: at least one bool -> bool.
    """
    return boolean(ast.Or, _require_conditions("any", args))


def _require_conditions(name: str, args: tuple[Any, ...]) -> tuple[Any, ...]:
    if not args:
        raise refuse(f"te.{name} needs at least one condition: te.{name}(i >= 1, i < 9)")
    return args


def min_value(dtype: str) -> Expr:
    """The least finite number of a type: `te.min_value("int8")` -> -128, of float32 -3.4028235e38.

    The start of a maximum, for instance. dtype: an integer or float type -> a constant of it.
    """
    return _word("min_value", _type(dtype))


def max_value(dtype: str) -> Expr:
    """The greatest finite number of a type: `te.max_value("int8")` -> 127, of float32 3.4028235e38.

    The start of a minimum, for instance. dtype: an integer or float type -> a constant of it.
    """
    return _word("max_value", _type(dtype))


def infinity(dtype: str) -> Expr:
    """The infinity of a float type; `-te.infinity("float32")` is the negative one.

    dtype: a float type -> a constant of it.
    """
    return _word("infinity", _type(dtype))


def cast(value: Any, dtype: str) -> Expr:
    """A value in another type: floats lose their fraction in integers, `te.cast(1.9, "int32")` -> 1.

    value: a number or bool; dtype: any type. The same as `x.astype(dtype)`.
    """
    return _word("cast", value, _type(dtype))


def _type(dtype: Any) -> str:
    name = str(getattr(dtype, "dtype", dtype))
    if name not in dtypes.NAMES:
        text = f'"{dtype}"' if isinstance(dtype, str) else f"a {type(dtype).__name__}"
        raise refuse(dtypes.refusal(text))
    return name
