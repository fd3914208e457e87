"""Scalar arith and math ops as Python expressions; a vector op is the same expression per lane.

Two semantics: machine arithmetic of the types, and exact arithmetic with Python's floats and unbounded integers.
"""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable, Sequence
from typing import Any

from mlir import ir

from tir_mlir.dialect.computation.float_operations import words
from tir_mlir.dialect.diagnostics import NotInterpreted
from tir_mlir.interpreter import floats, integers
from tir_mlir.interpreter.integers import signed_wrap_text
from tir_mlir.interpreter.kinds import is_float, kind_of, width
from tir_mlir.interpreter.poison import is_poison

Keep = Callable[[Any, str], str]
"""Binds a Python object to a name in the generated text."""

_FLOAT_SIGNS = {"addf": "+", "subf": "-", "mulf": "*"}
_INT_SIGNS = {"addi": "+", "subi": "-", "muli": "*"}
_BIT_SIGNS = {"andi": "&", "ori": "|", "xori": "^"}
_PAIRS = {
    "maximumf": floats.maximum, "minimumf": floats.minimum, "maxnumf": floats.maxnum, "minnumf": floats.minnum,
    "maxsi": integers.larger, "minsi": integers.smaller, "remf": floats.rem,
}  # fmt: skip
_EXACT_PAIRS = {
    "maximumf": floats.maximum, "maxnumf": floats.maxnum, "maxsi": floats.exact_max, "remf": floats.rem,
    "minimumf": floats.minimum, "minnumf": floats.minnum, "minsi": floats.exact_min,
}  # fmt: skip
_CMPI = ("==", "!=", "<", "<=", ">", ">=", "<", "<=", ">", ">=")
_CMPF = ("", "==", ">", ">=", "<", "<=", "!=", "", "==", ">", ">=", "<", "<=", "!=", "", "")
_SAME = ("extsi", "sitofp", "index_cast", "extf", "truncf", "trunci")
_WIDENED = ("extui", "uitofp", "index_castui")
_UNSIGNED_WORDS = ("divui", "remui", "ceildivui", "maxui", "minui", "shrui", "fptoui")


def expression(op: ir.Operation, args: Sequence[str], keep: Keep, exact: bool) -> str:
    """The Python expression of an arith or math op. Errors: NotInterpreted."""
    dialect, word = words(op)
    text = None
    if dialect == "arith":
        text = (_exact if exact else _machine)(op, word, args, keep)
    elif dialect == "math":
        text = _math(op, word, args, keep, exact)
    if text is None:
        raise NotInterpreted(f"the interpreter does not support {op.name}" + (" with exact=True" if exact else ""))
    return text


# --- exact ------------------------------------------------------------------------------------------------------------


def _exact(op: ir.Operation, word: str, args: Sequence[str], keep: Keep) -> str | None:
    """Integers do not wrap, except where an op reads one as unsigned."""
    if word in _UNSIGNED_WORDS:
        return _machine(op, word, args, keep)
    if word in _WIDENED:
        kind = kind_of(op.operands[0].type)
        return args[0] if kind in ("i1", "index") else f"{args[0]} & {(1 << width(kind)) - 1}"
    if word == "bitcast" and not is_float(kind_of(op.results[0].type)) and not is_float(kind_of(op.operands[0].type)):
        return args[0]
    signs = _FLOAT_SIGNS | _INT_SIGNS | _BIT_SIGNS | {"floordivsi": "//"}
    if word in signs:
        return f"{args[0]} {signs[word]} {args[1]}"
    if word in _EXACT_PAIRS:
        return f"{keep(_EXACT_PAIRS[word], word)}({args[0]}, {args[1]})"
    if word in _SAME:
        return args[0]
    if word in ("select", "cmpi", "cmpf"):
        return _choice(op, word, args, keep)
    if word == "negf":
        return f"-{args[0]}"
    if word == "fptosi":
        return f"{keep(floats.truncate, 'truncated')}({args[0]})"
    if word in ("shli", "shrsi"):
        bits = width(kind_of(op.results[0].type))
        return f"{keep(integers.exact_shift(word, bits), f'exact_{word}{bits}')}({args[0]}, {args[1]})"
    if word == "divf":
        return f"{keep(floats.div, 'div')}({args[0]}, {args[1]})"
    if word in ("divsi", "remsi"):
        return f"{keep(integers.divide if word == 'divsi' else integers.remainder, word)}({args[0]}, {args[1]})"
    return f"-(-{args[0]} // {args[1]})" if word == "ceildivsi" else None


# --- machine ----------------------------------------------------------------------------------------------------------


def _machine(op: ir.Operation, word: str, args: Sequence[str], keep: Keep) -> str | None:
    kind = kind_of(op.operands[-1].type)
    if word in ("cmpi", "cmpf", "select"):
        return _choice(op, word, args, keep)
    if len(args) == 1:
        return _one(word, args[0], kind, kind_of(op.results[0].type), keep)
    if is_float(kind):
        return _floats(word, args, kind, keep)
    return _bits(word, args) if kind == "i1" else _integers(word, args, kind, keep)


def _choice(op: ir.Operation, word: str, args: Sequence[str], keep: Keep) -> str:
    if word == "select":
        return f"{args[1]} if {args[0]} else {args[2]}"
    number = ir.IntegerAttr(op.attributes["predicate"]).value
    if word == "cmpf":
        if number in (1, 2, 3, 4, 5, 13):
            return f"{args[0]} {_CMPF[number]} {args[1]}"
        return f"{keep(floats.compare, 'compare')}({number}, {args[0]}, {args[1]})"
    if number < 6:
        return f"{args[0]} {_CMPI[number]} {args[1]}"
    mask = (1 << width(kind_of(op.operands[0].type))) - 1
    return f"({args[0]} & {mask}) {_CMPI[number]} ({args[1]} & {mask})"


def _floats(word: str, args: Sequence[str], kind: str, keep: Keep) -> str | None:
    a, b = args[:2]
    if word in _FLOAT_SIGNS:
        text = f"{a} {_FLOAT_SIGNS[word]} {b}"
    elif word == "divf":
        text = f"{keep(floats.div, 'div')}({a}, {b})" if kind == "f64" else f"{a} / {b}"
    elif word in _PAIRS:
        return f"{keep(_PAIRS[word], word)}({a}, {b})"
    else:
        return None
    return f"{keep(floats.bf16, 'bf16')}({text})" if kind == "bf16" else text


def _bits(word: str, args: Sequence[str]) -> str | None:
    a, b = args
    sign = {"addi": "^", "subi": "^", "xori": "^", "muli": "&", "andi": "&", "ori": "|", "minui": "&", "maxui": "|",
            "minsi": "|", "maxsi": "&"}.get(word)  # fmt: skip
    return f"{a} {sign} {b}" if sign else None


def _integers(word: str, args: Sequence[str], kind: str, keep: Keep) -> str | None:
    a, b = args[:2]
    bits = width(kind)
    mask = (1 << bits) - 1
    if word in _INT_SIGNS:
        text = f"{a} {_INT_SIGNS[word]} {b}"
        return text if kind == "index" else signed_wrap_text(text, bits)
    if word in _BIT_SIGNS:
        return f"{a} {_BIT_SIGNS[word]} {b}"
    if word in _PAIRS:
        return f"{keep(_PAIRS[word], word)}({a}, {b})"
    if word in ("minui", "maxui"):
        pick = keep(integers.smaller if word == "minui" else integers.larger, word)
        return signed_wrap_text(f"{pick}({a} & {mask}, {b} & {mask})", bits)
    if word == "floordivsi":
        return signed_wrap_text(f"{a} // {b}", bits)
    if word == "ceildivsi":
        return signed_wrap_text(f"-(-{a} // {b})", bits)
    if word in ("divsi", "remsi"):
        return signed_wrap_text(
            f"{keep(integers.divide if word == 'divsi' else integers.remainder, word)}({a}, {b})", bits
        )
    unsigned = {"divui": "//", "remui": "%"}.get(word)
    if unsigned:
        return signed_wrap_text(f"({a} & {mask}) {unsigned} ({b} & {mask})", bits)
    if word == "ceildivui":
        return signed_wrap_text(f"-(-({a} & {mask}) // ({b} & {mask}))", bits)
    if word in ("shli", "shrsi", "shrui"):
        return f"{keep(integers.shift(word, bits), f'{word}{bits}')}({a}, {b})"
    return None


def _one(word: str, a: str, kind: str, to: str, keep: Keep) -> str | None:
    """Unary ops: casts and negation."""
    if word == "negf":
        return f"-{a}"
    if word in ("extf", "truncf", "sitofp"):
        integer = f"{keep(integers.as_int, 'as_int')}({a})" if kind == "i1" else a
        return f"{keep(floats.ROUND[to], 'to_' + to)}({'-' if kind == 'i1' else ''}{integer})"
    if word == "uitofp":
        inner = f"{keep(integers.as_int, 'as_int')}({a})" if kind == "i1" else f"{a} & {(1 << width(kind)) - 1}"
        return f"{keep(floats.ROUND[to], 'to_' + to)}({inner})"
    if word in ("fptosi", "fptoui"):
        convert = floats.to_int(width(to), word == "fptosi")
        text = f"{keep(convert, f'{word}{width(to)}')}({a})"
        return f"{text} != 0" if to == "i1" else text
    if word in ("extsi", "extui", "index_cast", "index_castui", "trunci"):
        return _integer_cast_text(word, a, kind, to, keep)
    if word == "bitcast":
        if is_float(kind):
            return a if is_float(to) else f"{keep(floats.bits_of(kind), f'bits_of_{kind}')}({a})"
        return f"{keep(floats.from_bits(to), f'from_bits_{to}')}({a})" if is_float(to) else a
    return None


def _integer_cast_text(word: str, a: str, kind: str, to: str, keep: Keep) -> str:
    if kind == "ptr" or to == "ptr":
        return a
    if kind == "i1":
        text = f"{keep(integers.as_int, 'as_int')}({a})"
        return text if word in ("extui", "index_castui") else f"-{text}"
    if to == "i1":
        return f"({a} & 1) != 0"
    if word in ("extui", "index_castui") and width(kind) < width(to):
        return f"{a} & {(1 << width(kind)) - 1}"
    return signed_wrap_text(a, width(to)) if width(to) < width(kind) else a


# --- math: computed in float64, then rounded to the type --------------------------------------------------------------


def _cbrt(x: float) -> float:
    near = math.copysign(abs(x) ** (1 / 3), x)
    return near - (near * near * near - x) / (3 * near * near) if x and math.isfinite(x) else x


def _roundaway(x: float) -> float:
    if x != x:
        return x
    return math.copysign(math.floor(abs(x) + 0.5) if abs(x) < 2**52 and abs(x) != 0.49999999999999994 else
                         abs(x) if abs(x) >= 2**52 else 0.0, x)  # fmt: skip


def _preserve_zero_sign(function: Callable[[float], float]) -> Callable[[float], float]:
    """A rounding function that preserves the sign of zero."""
    return lambda x: math.copysign(float(function(x)), x) if abs(x) < 2**52 else x


_MATH: dict[str, Callable[[float], float]] = {
    "sqrt": math.sqrt, "rsqrt": lambda x: floats.div(1.0, math.sqrt(x)), "cbrt": _cbrt,
    "exp": math.exp, "exp2": lambda x: 2.0**x, "expm1": math.expm1,
    "log": lambda x: _log(x, math.log), "log2": lambda x: _log(x, math.log2), "log10": lambda x: _log(x, math.log10),
    "log1p": lambda x: -math.inf if x == -1 else math.log1p(x),
    "sin": math.sin, "cos": math.cos, "tan": math.tan, "asin": math.asin, "acos": math.acos, "atan": math.atan,
    "sinh": math.sinh, "cosh": math.cosh, "tanh": math.tanh, "asinh": math.asinh, "acosh": math.acosh,
    "atanh": lambda x: math.copysign(math.inf, x) if abs(x) == 1 else math.atanh(x),
    "erf": math.erf, "erfc": math.erfc, "absf": abs,
    "floor": _preserve_zero_sign(math.floor), "ceil": _preserve_zero_sign(math.ceil),
    "trunc": _preserve_zero_sign(math.trunc), "roundeven": _preserve_zero_sign(round), "round": _roundaway,
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


def _math_unary(word: str, round_: Callable[[Any], Any]) -> Callable[[Any], Any]:
    function = _MATH[word]

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


def _math_binary(function: Callable[[float, float], float], round_: Callable[[Any], Any]) -> Callable[[Any, Any], Any]:
    def run(a: Any, b: Any) -> Any:
        if is_poison(a) or is_poison(b):
            return a if is_poison(a) else b
        return round_(function(float(a), float(b)))

    return run


def _predicate_of(function: Callable[[float], bool]) -> Callable[[Any], Any]:
    return lambda a: a if is_poison(a) else function(float(a))


def _exactly(value: Any) -> Any:
    return value


def _math(op: ir.Operation, word: str, args: Sequence[str], keep: Keep, exact: bool) -> str | None:
    """The Python expression of an op of the math dialect; None if unsupported."""
    kind = kind_of(op.operands[0].type)
    arg_text = ", ".join(args)
    if not is_float(kind):
        return _math_of_integers(word, arg_text, kind, keep, exact)
    round_ = _exactly if exact else floats.ROUND[kind]
    tag = f"{word}_{kind}"
    if word in _MATH:
        return f"{keep(_math_unary(word, round_), tag)}({arg_text})"
    if word in ("isnan", "isinf", "isfinite"):
        return f"{keep(_predicate_of(getattr(cmath, word)), word)}({arg_text})"
    if word == "fma":
        return f"{args[0]} * {args[1]} + {args[2]}" if exact else f"{keep(floats.fma(kind), tag)}({arg_text})"
    pairs = {"powf": _power, "atan2": math.atan2, "copysign": math.copysign, "fpowi": _power}
    if word in pairs:
        return f"{keep(_math_binary(pairs[word], round_), tag)}({arg_text})"
    if word == "clampf":
        low, high = keep(floats.minimum, "minimumf"), keep(floats.maximum, "maximumf")
        return f"{high}({low}({args[0]}, {args[2]}), {args[1]})"
    return None


def _math_of_integers(word: str, arg_text: str, kind: str, keep: Keep, exact: bool) -> str | None:
    bits = width(kind)
    if word == "absi":
        return f"abs({arg_text})" if exact else integers.signed_wrap_text(f"abs({arg_text})", bits)
    if word == "ipowi":
        text = f"{keep(_integer_power, word)}({arg_text})"
        return text if exact else integers.signed_wrap_text(text, bits)
    return (
        f"{keep(integers.count(word, bits), f'{word}{bits}')}({arg_text})"
        if word in ("ctlz", "cttz", "ctpop")
        else None
    )
