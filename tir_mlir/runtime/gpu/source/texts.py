"""Expressions of C with their precedence, and affine expressions as C."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from mlir import ir

from tir_mlir.dialect.presburger import Bound, dim_factors, intervals

ATOM, UNARY, MUL, ADD, SHIFT, COMPARE, EQUAL, BIT_AND, BIT_XOR, BIT_OR, AND, OR, CHOICE = range(15, 2, -1)
Range = tuple[Bound, Bound]


class Text(NamedTuple):
    """An expression, and how tightly its last operation binds."""

    text: str
    level: int = ATOM

    def at(self, level: int) -> str:
        """The text as an operand of an operation that binds as tightly as `level`."""
        return self.text if self.level >= level else f"({self.text})"


def binary(a: Text, sign: str, b: Text, level: int) -> Text:
    """`a sign b`, an operation that groups from the left."""
    return Text(f"{a.at(level)} {sign} {b.at(level + 1)}", level)


def call(name: str, *arguments: Text) -> Text:
    return Text(f"{name}({', '.join(a.text for a in arguments)})")


def cast(type_: str, value: Text) -> Text:
    return Text(f"({type_}){value.at(UNARY)}", UNARY)


class AffineText:
    """Affine expressions over operands with known ranges. `needs(helper)` asks for a function of the text."""

    def __init__(self, operands: Sequence[Text], ranges: Sequence[Range], needs: Callable[[str], str]):
        self._operands, self._ranges, self._needs = operands, ranges, needs

    def of(self, expr: ir.AffineExpr) -> Text:
        """The value of an expression over dimensions."""
        expr = expr.maybe_downcast()
        if isinstance(expr, ir.AffineConstantExpr):
            return Text(str(expr.value), ATOM if expr.value >= 0 else UNARY)
        if isinstance(expr, ir.AffineDimExpr):
            return self._operands[expr.position]
        assert isinstance(expr, ir.AffineBinaryExpr)  # symbols are dimensions here
        if isinstance(expr, ir.AffineAddExpr):
            return self._sum(expr)
        if isinstance(expr, ir.AffineMulExpr):
            if ir.AffineConstantExpr(expr.rhs).value == -1:
                return Text(f"-{self.of(expr.lhs).at(UNARY)}", UNARY)
            return binary(self.of(expr.lhs), "*", self.of(expr.rhs), MUL)
        value, by = self.of(expr.lhs), Text(str(ir.AffineConstantExpr(expr.rhs).value))
        low = intervals.of_expr(expr.lhs, self._ranges)[0]
        is_plain = low is not None and low >= 0
        if isinstance(expr, ir.AffineModExpr):
            return binary(value, "%", by, MUL) if is_plain else call(self._needs("floor_mod"), value, by)
        if isinstance(expr, ir.AffineCeilDivExpr):
            value = binary(value, "+", Text(f"{by.text} - 1"), ADD)
        return binary(value, "/", by, MUL) if is_plain else call(self._needs("floor_div"), value, by)

    def _sum(self, expr: ir.AffineAddExpr) -> Text:
        lhs, rhs = self.of(expr.lhs), expr.rhs.maybe_downcast()
        if isinstance(rhs, ir.AffineConstantExpr) and rhs.value < 0:
            return binary(lhs, "-", Text(str(-rhs.value)), ADD)
        if isinstance(rhs, ir.AffineMulExpr):
            factor = rhs.rhs.maybe_downcast()
            if isinstance(factor, ir.AffineConstantExpr) and factor.value < 0:
                return binary(lhs, "-", self.of(rhs.lhs * -factor.value), ADD)
        return binary(lhs, "+", self.of(rhs), ADD)

    def condition(self, expr: ir.AffineExpr, is_eq: bool) -> Text:
        """`expr == 0` or `expr >= 0`, with the negative terms on the other side."""
        linear = dim_factors(expr)
        if linear is None:
            return binary(self.of(expr), "==" if is_eq else ">=", Text("0"), EQUAL if is_eq else COMPARE)
        above = sum((ir.AffineExpr.get_dim(d) * f for d, f in linear.factors.items() if f > 0), _ZERO())
        below = sum((ir.AffineExpr.get_dim(d) * -f for d, f in linear.factors.items() if f < 0), _ZERO())
        constant = linear.constant
        if is_eq:
            return binary(self.of(above + constant), "==", self.of(below), EQUAL)
        if not any(f > 0 for f in linear.factors.values()):
            if constant == 0 and intervals.of_expr(below, self._ranges)[0] == 0:
                return binary(self.of(below), "==", Text("0"), EQUAL)
            return binary(self.of(below), "<", Text(str(constant + 1)), COMPARE)
        if not any(f < 0 for f in linear.factors.values()):
            return binary(self.of(above), ">=", Text(str(-constant)), COMPARE)
        if constant < 0:
            return binary(self.of(below - constant - 1), "<", self.of(above), COMPARE)
        return binary(self.of(below), "<=", self.of(above + constant), COMPARE)


def _ZERO() -> ir.AffineExpr:
    return ir.AffineExpr.get_constant(0)
