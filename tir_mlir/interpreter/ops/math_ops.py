"""Ops of the math dialect: computed in float64, then rounded to the type."""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable, Sequence
from typing import Any

from mlir import ir

from tir_mlir.interpreter import floats, integers
from tir_mlir.interpreter.kinds import is_float, kind_of, width
from tir_mlir.interpreter.poison import is_poison

Keep = Callable[[Any, str], str]


def _cbrt(x: float) -> float:
    near = math.copysign(abs(x) ** (1 / 3), x)
    return near - (near * near * near - x) / (3 * near * near) if x and math.isfinite(x) else x


def _roundaway(x: float) -> float:
    if x != x:
        return x
    return math.copysign(math.floor(abs(x) + 0.5) if abs(x) < 2**52 and abs(x) != 0.49999999999999994 else
                         abs(x) if abs(x) >= 2**52 else 0.0, x)  # fmt: skip


def _whole(function: Callable[[float], float]) -> Callable[[float], float]:
    """A rounding function that preserves the sign of zero."""
    return lambda x: math.copysign(float(function(x)), x) if abs(x) < 2**52 else x


_ONE: dict[str, Callable[[float], float]] = {
    "sqrt": math.sqrt, "rsqrt": lambda x: floats.div(1.0, math.sqrt(x)), "cbrt": _cbrt,
    "exp": math.exp, "exp2": lambda x: 2.0**x, "expm1": math.expm1,
    "log": lambda x: _log(x, math.log), "log2": lambda x: _log(x, math.log2), "log10": lambda x: _log(x, math.log10),
    "log1p": lambda x: -math.inf if x == -1 else math.log1p(x),
    "sin": math.sin, "cos": math.cos, "tan": math.tan, "asin": math.asin, "acos": math.acos, "atan": math.atan,
    "sinh": math.sinh, "cosh": math.cosh, "tanh": math.tanh, "asinh": math.asinh, "acosh": math.acosh,
    "atanh": lambda x: math.copysign(math.inf, x) if abs(x) == 1 else math.atanh(x),
    "erf": math.erf, "erfc": math.erfc, "absf": abs,
    "floor": _whole(math.floor), "ceil": _whole(math.ceil), "trunc": _whole(math.trunc),
    "roundeven": _whole(round), "round": _roundaway,
}  # fmt: skip
_OVERFLOW = {"sinh": True, "exp": False, "exp2": False, "expm1": False, "cosh": False}


def _log(x: float, function: Callable[[float], float]) -> float:
    return function(x) if x else -math.inf


def _power(a: float, b: float) -> float:
    try:
        return math.pow(a, b)
    except OverflowError:
        return -math.inf if a < 0 and b % 2 == 1 else math.inf
    except ValueError:
        if a == 0:  # to a negative power
            return math.copysign(math.inf, a) if b % 2 == 1 else math.inf
        return math.nan


def _integer_power(a: Any, b: Any) -> Any:
    if is_poison(a) or is_poison(b):
        return a if is_poison(a) else b
    if b >= 0:
        return a**b
    return int(a == 1) if a != -1 else (-1 if b % 2 else 1)  # by zero: as a division would


def _unary(word: str, round_: Callable[[Any], Any]) -> Callable[[Any], Any]:
    function = _ONE[word]

    def run(a: Any) -> Any:
        if is_poison(a):
            return a
        try:
            return round_(function(float(a)))
        except OverflowError:
            return round_(math.copysign(math.inf, a) if _OVERFLOW.get(word) else math.inf)
        except ValueError:  # no real number
            return round_(math.nan)

    return run


def _binary(function: Callable[[float, float], float], round_: Callable[[Any], Any]) -> Callable[[Any, Any], Any]:
    def run(a: Any, b: Any) -> Any:
        if is_poison(a) or is_poison(b):
            return a if is_poison(a) else b
        return round_(function(float(a), float(b)))

    return run


def _test(function: Callable[[float], bool]) -> Callable[[Any], Any]:
    return lambda a: a if is_poison(a) else function(float(a))


def _exactly(value: Any) -> Any:
    return value


def expression(op: ir.Operation, word: str, args: Sequence[str], keep: Keep, exact: bool) -> str | None:
    """The Python expression of an op of the math dialect; None if unsupported."""
    kind = kind_of(op.operands[0].type)
    arg_text = ", ".join(args)
    if not is_float(kind):
        return _of_integers(word, arg_text, kind, keep, exact)
    round_ = _exactly if exact else floats.ROUND[kind]
    tag = f"{word}_{kind}"
    if word in _ONE:
        return f"{keep(_unary(word, round_), tag)}({arg_text})"
    if word in ("isnan", "isinf", "isfinite"):
        return f"{keep(_test(getattr(cmath, word)), word)}({arg_text})"
    if word == "fma":
        return f"{args[0]} * {args[1]} + {args[2]}" if exact else f"{keep(floats.fma(kind), tag)}({arg_text})"
    pairs = {"powf": _power, "atan2": math.atan2, "copysign": math.copysign, "fpowi": _power}
    if word in pairs:
        return f"{keep(_binary(pairs[word], round_), tag)}({arg_text})"
    if word == "clampf":
        low, high = keep(floats.minimum, "minimumf"), keep(floats.maximum, "maximumf")
        return f"{high}({low}({args[0]}, {args[2]}), {args[1]})"
    return None


def _of_integers(word: str, arg_text: str, kind: str, keep: Keep, exact: bool) -> str | None:
    bits = width(kind)
    if word == "absi":
        return f"abs({arg_text})" if exact else integers.wrapped(f"abs({arg_text})", bits)
    if word == "ipowi":
        text = f"{keep(_integer_power, word)}({arg_text})"
        return text if exact else integers.wrapped(text, bits)
    return (
        f"{keep(integers.count(word, bits), f'{word}{bits}')}({arg_text})"
        if word in ("ctlz", "cttz", "ctpop")
        else None
    )
