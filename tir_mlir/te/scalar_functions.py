"""Scalar functions of tensor expressions: mathematics, selection, conditions, casts, type limits."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from tir_mlir.dialect.ir import dtypes
from tir_mlir.script import tir
from tir_mlir.te.expr import Expr, boolean
from tir_mlir.te.expr import t_call as _word
from tir_mlir.te.source_location import refuse

__all__ = [
    "Select", "abs", "acos", "acosh", "add", "all", "any", "asin", "asinh", "atan", "atan2", "atanh", "bitwise_not",
    "cast", "ceil", "ceildiv", "clz", "copysign", "cos", "cosh", "div", "erf", "exp", "exp2", "fabs", "floor",
    "floordiv", "floormod", "fma", "if_then_else", "indexdiv", "indexmod", "infinity", "isfinite", "isinf", "isnan",
    "likely", "log", "log10", "log1p", "log2", "max_value", "min_value", "multiply", "nearbyint", "popcount", "pow",
    "power", "round", "rsqrt", "sigmoid", "sin", "sinh", "sqrt", "subtract", "tan", "tanh", "trunc", "truncdiv",
    "truncmod",
]  # fmt: skip


def _make(name: str) -> Callable[..., Any]:
    def made(*args: Any, **keywords: Any) -> Any:
        for arg in (*args, *keywords.values()):
            if not isinstance(arg, Expr) and hasattr(arg, "tir_call"):  # the variables of an index map
                return arg.tir_call(name, args, keywords)
        return _word(name, *args, **keywords)

    made.__name__ = made.__qualname__ = name
    made.__doc__ = getattr(tir, name).__doc__
    return made


exp, exp2, log, log2, log10, log1p = map(_make, ("exp", "exp2", "log", "log2", "log10", "log1p"))
sqrt, rsqrt, tanh, tan, sin, cos = map(_make, ("sqrt", "rsqrt", "tanh", "tan", "sin", "cos"))
atan, asin, acos, sinh, cosh = map(_make, ("atan", "asin", "acos", "sinh", "cosh"))
asinh, acosh, atanh, erf, sigmoid = map(_make, ("asinh", "acosh", "atanh", "erf", "sigmoid"))
floor, ceil, round, nearbyint, trunc = map(_make, ("floor", "ceil", "round", "nearbyint", "trunc"))
abs, isnan, isinf, isfinite = map(_make, ("abs", "isnan", "isinf", "isfinite"))
popcount, clz, bitwise_not = map(_make, ("popcount", "clz", "bitwise_not"))
power, atan2, copysign, fma = map(_make, ("pow", "atan2", "copysign", "fma"))
floordiv, floormod, truncdiv, truncmod, ceildiv = map(
    _make, ("floordiv", "floormod", "truncdiv", "truncmod", "ceildiv")
)
div, add, subtract, multiply = map(_make, ("divide", "add", "subtract", "multiply"))
if_then_else, Select, likely = map(_make, ("if_then_else", "Select", "likely"))
indexdiv, indexmod, pow, fabs = floordiv, floormod, power, abs


def all(*args: Any) -> Expr:
    """Conjunction: `te.all(i >= 1, i < 9)`."""
    return boolean(ast.And, _some("all", args))


def any(*args: Any) -> Expr:
    """Disjunction: `te.any(i < 1, i >= 9)`."""
    return boolean(ast.Or, _some("any", args))


def _some(name: str, args: tuple[Any, ...]) -> tuple[Any, ...]:
    if not args:
        raise refuse(f"te.{name} needs at least one condition: te.{name}(i >= 1, i < 9)")
    return args


def min_value(dtype: str) -> Expr:
    """The least finite number of a type."""
    return _word("min_value", _type(dtype))


def max_value(dtype: str) -> Expr:
    """The greatest finite number of a type."""
    return _word("max_value", _type(dtype))


def infinity(dtype: str) -> Expr:
    """Infinity of a float type."""
    return _word("infinity", _type(dtype))


def cast(value: Any, dtype: str) -> Expr:
    """A value converted to another type."""
    return _word("cast", value, _type(dtype))


def _type(dtype: Any) -> str:
    name = str(getattr(dtype, "dtype", dtype))
    if name not in dtypes.NAMES:
        text = f'"{dtype}"' if isinstance(dtype, str) else f"a {type(dtype).__name__}"
        raise refuse(dtypes.refusal(text))
    return name
