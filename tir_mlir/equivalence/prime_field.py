"""Convert float ops to prime field arithmetic (`field_functions`), by a table."""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable
from fractions import Fraction

from mlir import ir

from tir_mlir.dialect.diagnostics import NotChecked
from tir_mlir.dialect.ir.float_constants import rounded
from tir_mlir.equivalence.edits import OpBuilder, is_float, retyped
from tir_mlir.equivalence.field import exact_rounding
from tir_mlir.equivalence.field.field_functions import P

# op -> function
_CALLS = {
    "arith.addf": "add", "arith.subf": "sub", "arith.mulf": "mul",
    "arith.maximumf": "max", "arith.minimumf": "min", "arith.maxnumf": "max", "arith.minnumf": "min",
}  # fmt: skip
# uninterpreted functions: mixed with a salt from their name
OPAQUE = (
    "absf acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf erfc exp exp2 expm1 floor fpowi log"
    " log10 log1p log2 powf round roundeven sin sinh sqrt tan tanh trunc"
).split()
_OPAQUE = {f"math.{name}" for name in OPAQUE} | {"arith.remf"}
# cmpf predicate -> integer comparison of keys, or its constant value
_COMPARE = ("no", "eq", "ugt", "uge", "ult", "ule", "ne", "yes", "eq", "ugt", "uge", "ult", "ule", "ne", "no", "yes")
_GREATEST = {"f16": 65504.0, "bf16": 3.3895313892515355e38, "f32": 3.4028234663852886e38, "f64": 1.7976931348623157e308}
_NAMES = {"f16": "float16", "bf16": "bfloat16", "f32": "float32", "f64": "float64"}
_UNIT_FRACTIONS = 1 << 20
"""A constant that is 1/n rounded is taken as exactly 1/n, up to this n."""


def convert(module: ir.Module, everything: list[ir.Operation], build: OpBuilder) -> None:
    """Rewrite a module of plain loops in place. Raises NotChecked for an op without exact semantics."""
    old = [(op, op.name, _kinds(op.operands), _kinds(op.results)) for op in everything]
    retyped(everything, lambda _: ir.IntegerType.get_signless(64))
    for op, name, operands, results in old:
        if any(operands) or any(results):
            _convert(op, name, operands, results, build)


def _kinds(values: object) -> list[str]:
    """The name of the type for each float, "" for all else."""
    return [str(v.type) if is_float(v.type) else "" for v in values]  # type: ignore[attr-defined]


def _convert(op: ir.Operation, name: str, operands: list[str], results: list[str], build: OpBuilder) -> None:
    if name.split(".")[0] in ("affine", "memref", "scf", "func") or name == "arith.select":
        return  # only moves values
    make = _table().get(name)
    if make is None:
        raise NotChecked(f"{build.place(op)}: {name} on {(operands + results)[0]} has no exact semantics")
    with ir.InsertionPoint(op), op.location:
        value = make(op, operands, results, build)
    op.results[0].replace_all_uses_with(value)
    op.erase()


Make = Callable[[ir.Operation, list[str], list[str], OpBuilder], ir.Value]


def _table() -> dict[str, Make]:
    makers: dict[str, Make] = {name: _call(to) for name, to in _CALLS.items()}
    makers |= dict.fromkeys(_OPAQUE, _mixed)
    return makers | {
        "arith.constant": lambda op, o, r, b: constant(op.attributes["value"], r[0], b, op),
        "arith.negf": lambda op, o, r, b: b.call("sub", b.number(0), op.operands[0]),
        "arith.divf": lambda op, o, r, b: b.call("mul", op.operands[0], b.call("inv", op.operands[1])),
        "math.rsqrt": lambda op, o, r, b: b.call("inv", _salted(op.operands[0], "math.sqrt0", b)),
        "math.fma": lambda op, o, r, b: b.call("add", b.call("mul", *list(op.operands)[:2]), op.operands[2]),
        "arith.extf": lambda op, o, r, b: op.operands[0],
        "arith.truncf": _round,
        "arith.sitofp": lambda op, o, r, b: b.call("of_int", b.widened(op.operands[0], "arith.extsi")),
        "arith.uitofp": lambda op, o, r, b: b.call("of_unsigned", b.widened(op.operands[0], "arith.extui")),
        "arith.fptosi": _to_int,
        "arith.fptoui": _to_int,
        "arith.bitcast": _bits,
        "arith.cmpf": _compare,
        "math.isnan": _predicate,
        "math.isinf": _predicate,
        "math.isfinite": _predicate,
    }


def _call(to: str) -> Make:
    return lambda op, o, r, b: b.call(to, *op.operands)


def _salt(words: str) -> int:
    return zlib.crc32(words.encode()) * 0x9E3779B97F4A7C15 % P


def _salted(value: ir.Value, words: str, build: OpBuilder) -> ir.Value:
    return build.call("mix", value, build.number(_salt(words)))


def _round(op: ir.Operation, operands: list[str], results: list[str], build: OpBuilder) -> ir.Value:
    if exact_rounding.EXACT in op.attributes:
        return op.operands[0]
    return _salted(op.operands[0], f"round to {results[0]}", build)


def _mixed(op: ir.Operation, operands: list[str], results: list[str], build: OpBuilder) -> ir.Value:
    mixed = build.number(0)
    for number, (value, kind) in enumerate(zip(op.operands, operands, strict=True)):
        wide = value if kind else build.widened(value, "arith.extsi")
        mixed = build.call(
            "mix", build.plus(mixed, wide) if number else wide, build.number(_salt(f"{op.name}{number}"))
        )
    return mixed


def _to_int(op: ir.Operation, operands: list[str], results: list[str], build: OpBuilder) -> ir.Value:
    """Float to integer: mix first, as truncation of field elements would commute with sums."""
    mixed = _salted(op.operands[0], f"{op.name} to {op.results[0].type}", build)
    return build.narrowed(mixed, op.results[0].type)


def _bits(op: ir.Operation, operands: list[str], results: list[str], build: OpBuilder) -> ir.Value:
    """The bits of a float as an integer, and back: unknown functions of the value, one for each pair of types."""
    source, target = operands[0], results[0]
    if source and not target:
        return _to_int(op, operands, results, build)
    value = op.operands[0] if source else build.widened(op.operands[0], "arith.extsi")
    return _salted(value, f"{op.name} {source} to {target}", build)


def _predicate(op: ir.Operation, operands: list[str], results: list[str], build: OpBuilder) -> ir.Value:
    """An unknown predicate of the value: no element is NaN or infinite."""
    return build.narrowed(_salted(op.operands[0], op.name, build), op.results[0].type)


def _compare(op: ir.Operation, operands: list[str], results: list[str], build: OpBuilder) -> ir.Value:
    word = _COMPARE[ir.IntegerAttr(op.attributes["predicate"]).value]
    if word in ("no", "yes"):
        return build.bit(word == "yes")
    build.ordered = True
    keys = op.operands if word in ("eq", "ne") else [build.call("key", v) for v in op.operands]
    return build.cmpi(word, *keys)


# --- constants ----------------------------------------------------------------------------------------------------


def constant(attribute: ir.Attribute, kind: str, build: OpBuilder, op: ir.Operation) -> ir.Value:
    """The field element of a constant: exact; 1/n for a rounded 1/n; ends of the order for infinities."""
    if not isinstance(attribute, ir.FloatAttr):
        raise NotChecked(f"{build.place(op)}: the constant {attribute} has no exact semantics")
    value = attribute.value
    if math.isnan(value):
        return build.number(_salt("NaN"))  # an unknown element: the field has no NaN
    if abs(value) >= _GREATEST[kind]:
        return build.call("top" if value > 0 else "bottom")
    exact = exact_value(value, kind)
    build.constants.add(exact)
    return build.number(exact.numerator * pow(exact.denominator, -1, P) % P)


def element(value: float, kind: str) -> int:
    """The element of the field for a finite float of an MLIR type."""
    exact = exact_value(value, kind)
    return exact.numerator * pow(exact.denominator, -1, P) % P


def exact_value(value: float, kind: str) -> Fraction:
    """The number that a finite float stands for: 1/n for a rounded 1/n."""
    exact = Fraction(value)
    if 0 < abs(value) < 1:
        n = round(1 / abs(exact))
        if 1 < n <= _UNIT_FRACTIONS and rounded(1 / n, _NAMES[kind]) == abs(value):
            exact = Fraction(1 if value > 0 else -1, n)
    return exact
