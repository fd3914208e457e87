"""Expressions of C with their precedence, and affine expressions as C."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from mlir import ir

from tir_mlir.dialect.presburger import Bound, dim_factors, intervals

ATOM, UNARY, MUL, ADD, SHIFT, COMPARE, EQUAL, BIT_AND, BIT_XOR, BIT_OR, AND, OR, CHOICE = range(15, 2, -1)
Range = tuple[Bound, Bound]


class CExpression(NamedTuple):
    """An expression, and how tightly its last operation binds."""

    text: str
    level: int = ATOM

    def as_operand(self, level: int) -> str:
        """The text as an operand of an operation that binds as tightly as `level`."""
        return self.text if self.level >= level else f"({self.text})"


def binary(a: CExpression, sign: str, b: CExpression, level: int) -> CExpression:
    """`a sign b`, an operation that groups from the left."""
    return CExpression(f"{a.as_operand(level)} {sign} {b.as_operand(level + 1)}", level)


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
