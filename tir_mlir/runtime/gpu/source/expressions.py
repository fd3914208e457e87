"""Expressions of C with their precedence: affine expressions, and scalar operations."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from mlir import ir

from tir_mlir.dialect.diagnostics import BuildError
from tir_mlir.dialect.ir import attrs, bits, to_name
from tir_mlir.dialect.ir.op_traits import INTEGER_RING, MAXIMA, OPS, UNSIGNED
from tir_mlir.dialect.ir.op_views import BitcastOp, CastBaseOp, CompareIntegersOp
from tir_mlir.dialect.presburger import Bound, dim_factors, intervals
from tir_mlir.runtime.gpu.source.dialects import HELPERS, Dialect

ATOM, UNARY, MUL, ADD, SHIFT, COMPARE, EQUAL, BIT_AND, BIT_XOR, BIT_OR, AND, OR, CHOICE = range(15, 2, -1)
Range = tuple[Bound, Bound]
_WRITTEN_OUT: dict[int, tuple[int, ...]] = {
    SHIFT: (), BIT_AND: (), BIT_XOR: (), BIT_OR: (), EQUAL: (ADD, MUL), OR: (EQUAL, COMPARE),
}  # fmt: skip
"""Operations whose operands are in parentheses, but those of the same and of some other levels."""


class CExpression(NamedTuple):
    """An expression, and how tightly its last operation binds."""

    text: str
    level: int = ATOM

    def as_operand(self, level: int) -> str:
        """The text as an operand of an operation that binds as tightly as `level`."""
        return self.text if self.level >= level else f"({self.text})"


def binary(a: CExpression, sign: str, b: CExpression, level: int) -> CExpression:
    """`a sign b`, an operation that groups from the left. Where compilers warn of it, precedence is written out."""
    left, right = level, level + 1
    if level in _WRITTEN_OUT:
        left, right = (UNARY if x.level not in (level, *_WRITTEN_OUT[level]) else level for x in (a, b))
        right = max(right, level + 1)
    return CExpression(f"{a.as_operand(left)} {sign} {b.as_operand(right)}", level)


def call(name: str, *arguments: CExpression) -> CExpression:
    return CExpression(f"{name}({', '.join(a.text for a in arguments)})")


def cast(type_: str, value: CExpression) -> CExpression:
    return CExpression(f"({type_}){value.as_operand(UNARY)}", UNARY)


class AffineText:
    """Affine expressions over operands with known ranges. `needs(helper)` asks for a function of the text."""

    def __init__(self, operands: Sequence[CExpression], ranges: Sequence[Range], needs: Callable[[str], str]):
        self._operands, self._ranges, self._needs = operands, ranges, needs

    def print_expr(self, expr: ir.AffineExpr) -> CExpression:
        """The value of an expression over dimensions."""
        expr = expr.maybe_downcast()
        if isinstance(expr, ir.AffineConstantExpr):
            return CExpression(str(expr.value), ATOM if expr.value >= 0 else UNARY)
        if isinstance(expr, ir.AffineDimExpr):
            return self._operands[expr.position]
        assert isinstance(expr, ir.AffineBinaryExpr)  # symbols are dimensions here
        if isinstance(expr, ir.AffineAddExpr):
            return self._sum(expr)
        if isinstance(expr, ir.AffineMulExpr):
            if ir.AffineConstantExpr(expr.rhs).value == -1:
                return CExpression(f"-{self.print_expr(expr.lhs).as_operand(UNARY)}", UNARY)
            return binary(self.print_expr(expr.lhs), "*", self.print_expr(expr.rhs), MUL)
        value, by = self.print_expr(expr.lhs), CExpression(str(ir.AffineConstantExpr(expr.rhs).value))
        low = intervals.expr_interval(expr.lhs, self._ranges)[0]
        is_plain = low is not None and low >= 0
        if isinstance(expr, ir.AffineModExpr):
            return binary(value, "%", by, MUL) if is_plain else call(self._needs("floor_mod"), value, by)
        if isinstance(expr, ir.AffineCeilDivExpr):
            value = binary(value, "+", CExpression(f"{by.text} - 1"), ADD)
        return binary(value, "/", by, MUL) if is_plain else call(self._needs("floor_div"), value, by)

    def _sum(self, expr: ir.AffineAddExpr) -> CExpression:
        lhs, rhs = self.print_expr(expr.lhs), expr.rhs.maybe_downcast()
        if isinstance(rhs, ir.AffineConstantExpr) and rhs.value < 0:
            return binary(lhs, "-", CExpression(str(-rhs.value)), ADD)
        if isinstance(rhs, ir.AffineMulExpr):
            factor = rhs.rhs.maybe_downcast()
            if isinstance(factor, ir.AffineConstantExpr) and factor.value < 0:
                return binary(lhs, "-", self.print_expr(rhs.lhs * -factor.value), ADD)
        return binary(lhs, "+", self.print_expr(rhs), ADD)

    def condition(self, expr: ir.AffineExpr, is_eq: bool) -> CExpression:
        """`expr == 0` or `expr >= 0`, with the negative terms on the other side."""
        linear = dim_factors(expr)
        if linear is None:
            return binary(self.print_expr(expr), "==" if is_eq else ">=", CExpression("0"), EQUAL if is_eq else COMPARE)
        above = sum((ir.AffineExpr.get_dim(d) * f for d, f in linear.factors.items() if f > 0), _ZERO())
        below = sum((ir.AffineExpr.get_dim(d) * -f for d, f in linear.factors.items() if f < 0), _ZERO())
        constant = linear.constant
        if is_eq:
            return binary(self.print_expr(above + constant), "==", self.print_expr(below), EQUAL)
        if not any(f > 0 for f in linear.factors.values()):
            if constant == 0 and intervals.expr_interval(below, self._ranges)[0] == 0:
                return binary(self.print_expr(below), "==", CExpression("0"), EQUAL)
            return binary(self.print_expr(below), "<", CExpression(str(constant + 1)), COMPARE)
        if not any(f < 0 for f in linear.factors.values()):
            return binary(self.print_expr(above), ">=", CExpression(str(-constant)), COMPARE)
        if constant < 0:
            return binary(self.print_expr(below - constant - 1), "<", self.print_expr(above), COMPARE)
        return binary(self.print_expr(below), "<=", self.print_expr(above + constant), COMPARE)


def _ZERO() -> ir.AffineExpr:
    return ir.AffineExpr.get_constant(0)


_PRECEDENCE = {
    "+": ADD, "-": ADD, "*": MUL, "/": MUL, "%": MUL, "<<": SHIFT, ">>": SHIFT, "&": BIT_AND, "|": BIT_OR, "^": BIT_XOR,
}  # fmt: skip
_WRAPS = INTEGER_RING | {"arith.shli"}
_UNSIGNED = frozenset(UNSIGNED.values())
_FLOAT_ORDER = {"eq": "==", "gt": ">", "ge": ">=", "lt": "<", "le": "<="}
_FLOAT_PREDICATES = (
    "false", "oeq", "ogt", "oge", "olt", "ole", "one", "ord", "ueq", "ugt", "uge", "ult", "ule", "une", "uno", "true",
)  # fmt: skip
_INTEGER_PREDICATES = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")
_OPPOSITE = {"gt": "<=", "ge": "<", "lt": ">=", "le": ">"}


class Scalars:
    """The expression of an op over those of its operands."""

    def __init__(self, dialect: Dialect, index: str, needs: Callable[[str], str]):
        self._dialect, self._index, self._needs = dialect, index, needs

    def type(self, type_: ir.Type) -> str:
        return self._index if isinstance(type_, ir.IndexType) else self._dialect.type(str(type_))

    def print_op(self, op: ir.Operation, operands: Sequence[CExpression]) -> CExpression:
        """Raises BuildError for an op that C has nothing for."""
        name, type_ = op.name, op.results[0].type
        spelling = OPS[name].c if name in OPS else ""
        if spelling in _PRECEDENCE:
            return self._operator(name, spelling, type_, operands)
        if spelling in HELPERS and spelling in self._dialect.helpers:
            return call(self._needs(spelling), *operands)
        if spelling in ("max", "min"):
            return self._extremum(name, type_, operands)
        if spelling:
            return self._function(spelling, type_, operands)
        special: Callable[[ir.Operation, Sequence[CExpression]], CExpression] | None = getattr(
            self, f"_{name.split('.')[-1]}", None
        )
        if special is None or name.split(".")[0] not in ("arith", "math"):
            raise BuildError(f"{self._dialect.name} of {name} is not supported; lib.assembly is the code")
        return special(op, operands)

    # --- constants ---

    def _constant(self, op: ir.Operation, operands: Sequence[CExpression]) -> CExpression:
        return self.literal(attrs.from_attr(op.attributes["value"]), op.results[0].type)

    def literal(self, value: float | int | bool, type_: ir.Type) -> CExpression:
        """A constant of a type."""
        if not isinstance(type_, ir.FloatType):
            text = str(value).lower() if isinstance(value, bool) else str(value)
            if str(type_) == "i1":
                return CExpression("true" if value else "false")
            if value == -(2 ** (bits(to_name(type_)) - 1)) and not self._dialect.has_library:
                return CExpression(f"({value + 1} - 1)")  # C has no negative constants: the number would be too large
            return CExpression(f"({text})" if value < -(2**31) else text, UNARY if text.startswith("-") else 15)
        name = str(type_)
        if math.isnan(value):
            return CExpression(f"({self._infinite(name)} - {self._infinite(name)})")
        if math.isinf(value):
            return CExpression(f"-{self._infinite(name)}" if value < 0 else self._infinite(name), UNARY)
        digits = repr(float(value)) if name == "f64" else str(np.float32(value))
        digits = digits if any(c in digits for c in ".e") else f"{digits}.0"
        text = CExpression(digits if name == "f64" else f"{digits}f", UNARY if digits.startswith("-") else 15)
        return text if name in ("f32", "f64") else cast(self.type(type_), text)

    def _infinite(self, name: str) -> str:
        plain = self._call_text(self._dialect.infinity["f64" if name == "f64" else "f32"]).text
        return plain if name in ("f32", "f64") else f"({self._dialect.type(name)}){plain}"

    # --- integers ---

    def _operator(self, name: str, sign: str, type_: ir.Type, operands: Sequence[CExpression]) -> CExpression:
        a, b = operands
        result = binary(a, sign, b, _PRECEDENCE[sign])
        if name in _UNSIGNED or (name in _WRAPS and str(type_) in ("i32", "i64")):  # C's own integers do not wrap
            if isinstance(type_, ir.IndexType):
                return result  # sizes and positions are not negative
            unsigned = self._dialect.unsigned_type(str(type_))
            return cast(self.type(type_), binary(cast(unsigned, a), sign, cast(unsigned, b), _PRECEDENCE[sign]))
        return cast(self.type(type_), result) if str(type_) in ("i8", "i16") else result

    def _extremum(self, name: str, type_: ir.Type, operands: Sequence[CExpression]) -> CExpression:
        if str(type_) == "i1":
            is_or = (name in MAXIMA) == (name in _UNSIGNED)  # true is -1
            return binary(operands[0], "|" if is_or else "&", operands[1], BIT_OR if is_or else BIT_AND)
        if name.endswith("ui") and not isinstance(type_, ir.IndexType):
            unsigned = self._dialect.unsigned_type(str(type_))
            return cast(self.type(type_), call(self._choice(name), *(cast(unsigned, v) for v in operands)))
        return call(self._choice(name), *(cast(self.type(type_), v) if v.text.isdigit() else v for v in operands))

    def _choice(self, name: str) -> str:
        """The function that is an op of the greater or the lesser number."""
        return self._needs(self._dialect.functions.get(OPS[name].c, OPS[name].c))

    def _ceildivsi(self, op: ir.Operation, operands: Sequence[CExpression]) -> CExpression:
        a, b = operands
        return CExpression(
            f"-{call(self._needs('floor_div'), CExpression(f'-{a.as_operand(UNARY)}', UNARY), b).text}", UNARY
        )

    def _absi(self, op: ir.Operation, operands: Sequence[CExpression]) -> CExpression:
        if not self._dialect.has_library:
            return cast(self.type(op.results[0].type), call(self._needs("absolute"), *operands))
        return cast(self.type(op.results[0].type), call("abs", *operands))

    def _ctlz(self, op: ir.Operation, operands: Sequence[CExpression]) -> CExpression:
        return call(self._dialect.functions.get("clz", "clz"), *operands)

    def _ctpop(self, op: ir.Operation, operands: Sequence[CExpression]) -> CExpression:
        return call(self._dialect.functions.get("popcount", "popcount"), *operands)

    def _cmpi(self, op: ir.Operation, operands: Sequence[CExpression]) -> CExpression:
        predicate = _INTEGER_PREDICATES[ir.IntegerAttr(op.attributes["predicate"]).value]
        a, b = operands
        if predicate in ("eq", "ne"):
            return binary(a, "==" if predicate == "eq" else "!=", b, EQUAL)
        type_ = CompareIntegersOp(op).lhs.type
        if predicate[0] == "u" and not isinstance(type_, ir.IndexType):
            unsigned = self._dialect.unsigned_type(str(type_))
            a, b = cast(unsigned, a), cast(unsigned, b)
        return binary(a, _FLOAT_ORDER[predicate[1:]], b, COMPARE)

    # --- floats ---

    def _function(self, name: str, type_: ir.Type, operands: Sequence[CExpression]) -> CExpression:
        element = str(type_)
        function = self._needs(self._dialect.function(name, element))
        if element in ("f32", "f64"):
            return call(function, *operands)
        return cast(self.type(type_), call(function, *(cast("float", v) for v in operands)))

    def _isnan(self, op: ir.Operation, operands: Sequence[CExpression]) -> CExpression:
        return binary(operands[0], "!=", operands[0], EQUAL)

    def _isfinite(self, op: ir.Operation, operands: Sequence[CExpression]) -> CExpression:
        return binary(binary(operands[0], "-", operands[0], ADD), "==", CExpression("0"), EQUAL)

    def _negf(self, op: ir.Operation, operands: Sequence[CExpression]) -> CExpression:
        return CExpression(f"-{operands[0].as_operand(UNARY)}", UNARY)

    def _cmpf(self, op: ir.Operation, operands: Sequence[CExpression]) -> CExpression:
        predicate = _FLOAT_PREDICATES[ir.IntegerAttr(op.attributes["predicate"]).value]
        a, b = operands
        if predicate in ("true", "false"):
            return CExpression(predicate)
        if predicate in ("uno", "ord"):
            sign, joint, level = ("!=", "||", OR) if predicate == "uno" else ("==", "&&", AND)
            return binary(binary(a, sign, a, EQUAL), joint, binary(b, sign, b, EQUAL), level)
        if predicate == "une":
            return binary(a, "!=", b, EQUAL)
        either = binary(binary(a, "<", b, COMPARE), "||", binary(a, ">", b, COMPARE), OR)
        if predicate == "one":
            return either
        if predicate == "ueq":
            return CExpression(f"!({either.text})", UNARY)
        order = predicate[1:]
        if predicate[0] == "o":
            return binary(a, _FLOAT_ORDER[order], b, EQUAL if order == "eq" else COMPARE)
        return CExpression(f"!({binary(a, _OPPOSITE[order], b, COMPARE).text})", UNARY)

    # --- choices and conversions ---

    def _select(self, op: ir.Operation, operands: Sequence[CExpression]) -> CExpression:
        condition, a, b = operands
        return CExpression(
            f"{condition.as_operand(CHOICE + 1)} ? {a.as_operand(CHOICE + 1)} : {b.as_operand(CHOICE)}", CHOICE
        )

    def _cast(self, op: ir.Operation, operands: Sequence[CExpression]) -> CExpression:
        return cast(self.type(op.results[0].type), operands[0])

    _sitofp = _fptosi = _fptoui = _extf = _truncf = _index_cast = _index_castui = _cast

    def _from_unsigned(self, op: ir.Operation, operands: Sequence[CExpression]) -> CExpression:
        source = str(CastBaseOp(op).source.type)
        value = operands[0] if source == "i1" else cast(self._dialect.unsigned_type(source), operands[0])
        return cast(self.type(op.results[0].type), value)

    _uitofp = _extui = _from_unsigned

    def _extsi(self, op: ir.Operation, operands: Sequence[CExpression]) -> CExpression:
        value = cast(self.type(op.results[0].type), operands[0])
        return CExpression(f"-{value.as_operand(UNARY)}", UNARY) if str(CastBaseOp(op).source.type) == "i1" else value

    def _trunci(self, op: ir.Operation, operands: Sequence[CExpression]) -> CExpression:
        if str(op.results[0].type) == "i1":
            return binary(binary(operands[0], "&", CExpression("1"), BIT_AND), "!=", CExpression("0"), EQUAL)
        return self._cast(op, operands)

    def _bitcast(self, op: ir.Operation, operands: Sequence[CExpression]) -> CExpression:
        key = str(BitcastOp(op).source.type), str(op.results[0].type)
        if key[0] == key[1]:
            return operands[0]
        if key not in self._dialect.bits:
            raise BuildError(f"{self._dialect.name} has nothing for the bits of {key[0]} as {key[1]}")
        return self._call_text(self._dialect.bits[key].format(operands[0].text))

    def _call_text(self, text: str) -> CExpression:
        """A call that is written already."""
        self._needs(text.split("(")[0])
        return CExpression(text)
