"""Scalar functions of tensor expressions: mathematics, selection, conditions, casts, type limits.

They take and return expressions, as the elements of tensors inside `te.compute`; numbers of Python are constants.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable
from typing import ParamSpec

from tir_mlir.dialect.ir import dtypes
from tir_mlir.dialect.ops import SCALAR_FUNCTIONS, ScalarFunction
from tir_mlir.dialect.ops.declare import declare
from tir_mlir.te.expr import Expr, ExprLike, boolean
from tir_mlir.te.expr import t_call as _word
from tir_mlir.te.source_location import refuse

__all__ = ["Select", "all", "any", "cast", "if_then_else", "infinity", "likely", "max_value", "min_value"]

_P = ParamSpec("_P")


def _scalar(word: str = "") -> Callable[[Callable[_P, Expr]], Callable[_P, Expr]]:
    """Make a declaration a call of the function of `T` with the same name, or the name `word`."""

    def decorate(declared: Callable[_P, Expr]) -> Callable[_P, Expr]:
        name = word or declared.__name__

        @functools.wraps(declared)
        def call(*args: _P.args, **keywords: _P.kwargs) -> Expr:
            for arg in (*args, *keywords.values()):
                build = getattr(arg, "tir_call", None)
                if build is not None and not isinstance(arg, Expr):  # the variables of an index map
                    return build(name, args, keywords)
            return _word(name, *args, **keywords)

        return call

    return decorate


def _doc(name: str, one: ScalarFunction) -> str:
    """The docstring of a function: an example, and the types."""
    text, operands = one.doc, ", ".join(one.params)
    if one.params == ("x",) and one.takes in ("floats", "numbers"):
        value = f"te.{name}(A[i])"
        example = f"te.Select({value}, 0.0, A[i])" if one.predicate else f"te.compute((n,), lambda i: {value})"
        text += f"\n\n    {example}"
    if one.params != ("x",):
        kinds = f"{one.takes} of one type -> that type"
        if one.takes == "numbers":
            kinds += ". A Python number takes the type of the other operand"
    else:
        number = {"floats": "a float", "integers": "an integer", "numbers": "an integer or a float"}[one.takes]
        kinds = f"{number} -> {'bool' if one.predicate else 'the same type'}"
        if one.takes == "floats" and not one.predicate:
            kinds += '; an integer is cast first, `te.cast(x, "float32")`'
    return f"{text}\n\n{operands}: {kinds}.\n"


for _one in SCALAR_FUNCTIONS.values():
    if _one.te_names:
        _name = _one.te_names[0]
        _declared = declare(__name__, _name, _one.params, _doc(_name, _one), "ExprLike", "Expr")
        _function = _scalar(_one.name)(_declared)
        globals().update(dict.fromkeys(_one.te_names, _function))
        __all__ += _one.te_names


@_scalar()
def if_then_else(condition: ExprLike, then_value: ExprLike, else_value: ExprLike) -> Expr:
    """One of two values, of which only the chosen one is evaluated: it may read an element that exists only then.

        te.compute((n,), lambda i: te.if_then_else(i >= 1, A[i - 1], 0.0))

    condition: bool; the values: of one type -> that type.
    """
    ...


@_scalar()
def Select(condition: ExprLike, then_value: ExprLike, else_value: ExprLike) -> Expr:
    """One of two values, both of which are evaluated: neither may read outside a tensor.

        te.compute((n,), lambda i: te.Select(A[i] > 0, A[i], 0.0))

    condition: bool; the values: of one type -> that type.
    """
    ...


@_scalar()
def likely(condition: ExprLike) -> Expr:
    """The condition itself: a hint of TVM that is accepted, and has no effect.

    condition: bool -> bool.
    """
    ...


def all(*args: ExprLike) -> Expr:
    """Whether all conditions hold: `te.all(i >= 1, i < 9)`.

    args: at least one bool -> bool.
    """
    return boolean(ast.And, _require_conditions("all", args))


def any(*args: ExprLike) -> Expr:
    """Whether one of the conditions holds: `te.any(i < 1, i >= 9)`.

    args: at least one bool -> bool.
    """
    return boolean(ast.Or, _require_conditions("any", args))


def _require_conditions(name: str, args: tuple[ExprLike, ...]) -> tuple[ExprLike, ...]:
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


def cast(value: ExprLike, dtype: str) -> Expr:
    """A value in another type: floats lose their fraction in integers, `te.cast(1.9, "int32")` -> 1.

    value: a number or bool; dtype: any type. The same as `x.astype(dtype)`.
    """
    return _word("cast", value, _type(dtype))


def _type(dtype: object) -> str:
    name = str(getattr(dtype, "dtype", dtype))
    if name not in dtypes.NAMES:
        kind = "reduction" if hasattr(dtype, "is_reduction") else type(dtype).__name__
        text = f'"{dtype}"' if isinstance(dtype, str) else f"a {kind}"
        raise refuse(dtypes.refusal(text))
    return name
