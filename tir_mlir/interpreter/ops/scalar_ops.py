"""Scalar arith and math ops as Python expressions; a vector op is the same expression per lane.

Two semantics: machine arithmetic of the types, and exact arithmetic with Python's floats and unbounded integers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from mlir import ir

from tir_mlir.dialect.computation.float_operations import words
from tir_mlir.dialect.diagnostics import NotInterpreted
from tir_mlir.dialect.ir.op_traits import BITWISE, OPS, ROUNDINGS
from tir_mlir.dialect.ir.op_views import BitcastOp, CastBaseOp, CompareOp
from tir_mlir.interpreter import floats, integers
from tir_mlir.interpreter.integers import signed_wrap_text
from tir_mlir.interpreter.kinds import is_float, kind_of, width
from tir_mlir.interpreter.poison import is_poison

if TYPE_CHECKING:
    from tir_mlir.interpreter.poison import Number


Keep = Callable[[object, str], str]
"""Binds a Python object to a name in the generated text."""

_SIGNS = {name.partition(".")[2]: row.sign for name, row in OPS.items() if row.sign}
_BITWISE = {name.partition(".")[2] for name in BITWISE}
PAIRS = {
    "maximumf": floats.maximum, "minimumf": floats.minimum, "maxnumf": floats.maxnum, "minnumf": floats.minnum,
    "maxsi": integers.larger, "minsi": integers.smaller, "remf": floats.rem,
}  # fmt: skip
"""The functions of operators of two numbers that have no sign in Python."""
_EXACT_PAIRS = PAIRS | {"maxsi": floats.exact_max, "minsi": floats.exact_min}
_CMPI = ("==", "!=", "<", "<=", ">", ">=", "<", "<=", ">", ">=")
_CMPF = ("", "==", ">", ">=", "<", "<=", "!=", "", "==", ">", ">=", "<", "<=", "!=", "", "")
_UNSIGNED = {row.unsigned for row in OPS.values() if row.unsigned}
_WORD_OF_CAST = {name: name.partition(".")[2] for name in CastBaseOp.names - ROUNDINGS - BitcastOp.names}
_SAME = {word for name, word in _WORD_OF_CAST.items() if name not in _UNSIGNED}
"""Casts that do not change an exact number."""
_WIDENED = {word for name, word in _WORD_OF_CAST.items() if name in _UNSIGNED}
_UNSIGNED_WORDS = {name.partition(".")[2] for name in _UNSIGNED} - _WIDENED


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
        kind = kind_of(CastBaseOp(op).source.type)
        return args[0] if kind in ("i1", "index") else f"{args[0]} & {(1 << width(kind)) - 1}"
    if (
        word == "bitcast"
        and not is_float(kind_of(op.results[0].type))
        and not is_float(kind_of(BitcastOp(op).source.type))
    ):
        return args[0]
    if word in _SIGNS:
        return f"{args[0]} {_SIGNS[word]} {args[1]}"
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
    mask = (1 << width(kind_of(CompareOp(op).lhs.type))) - 1
    return f"({args[0]} & {mask}) {_CMPI[number]} ({args[1]} & {mask})"


def _floats(word: str, args: Sequence[str], kind: str, keep: Keep) -> str | None:
    a, b = args[:2]
    if word in _SIGNS:
        text = f"{a} {_SIGNS[word]} {b}"
    elif word == "divf":
        text = f"{keep(floats.div, 'div')}({a}, {b})" if kind == "f64" else f"{a} / {b}"
    elif word in PAIRS:
        return f"{keep(PAIRS[word], word)}({a}, {b})"
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
    if word in _SIGNS:
        text = f"{a} {_SIGNS[word]} {b}"
        return text if kind == "index" or word in _BITWISE else signed_wrap_text(text, bits)
    if word in PAIRS:
        return f"{keep(PAIRS[word], word)}({a}, {b})"
    if word in ("minui", "maxui"):
        pick = keep(integers.smaller if word == "minui" else integers.larger, word)
        return signed_wrap_text(f"{pick}({a} & {mask}, {b} & {mask})", bits)
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


def _integer_power(a: Number, b: Number) -> Number:
    if is_poison(a) or is_poison(b):
        return a if is_poison(a) else b
    if b >= 0:
        return a**b
    return int(a == 1) if a != -1 else (-1 if b % 2 else 1)  # by zero: as a division would


def _function_of_floats(function: Callable[..., float], round_: Callable[[Number], Number]) -> Callable[..., Number]:
    """The Python function of a record on any of the values, rounded."""

    def run(*operands: Number) -> Number:
        for operand in operands:
            if is_poison(operand):
                return operand
        try:
            return round_(function(*map(float, operands)))
        except OverflowError:
            return round_(math.inf)
        except ValueError:  # no real number
            return round_(math.nan)

    return run


def _exactly(value: Number) -> Number:
    return value


def _math(op: ir.Operation, word: str, args: Sequence[str], keep: Keep, exact: bool) -> str | None:
    """The Python expression of an op of the math dialect; None if unsupported."""
    kind = kind_of(op.operands[0].type)
    arg_text = ", ".join(args)
    if not is_float(kind):
        return _math_of_integers(word, arg_text, kind, keep, exact)
    round_ = _exactly if exact else floats.ROUND[kind]
    tag = f"{word}_{kind}"
    row = OPS.get(op.name)
    if row is not None and row.python is not None:
        round_ = round_ if is_float(kind_of(op.results[0].type)) else _exactly
        return f"{keep(_function_of_floats(row.python, round_), tag)}({arg_text})"
    if word == "fma":
        return f"{args[0]} * {args[1]} + {args[2]}" if exact else f"{keep(floats.fma(kind), tag)}({arg_text})"
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
