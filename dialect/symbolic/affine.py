"""Integer expressions as affine expressions of MLIR, and back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from mlir import ir

from tir_mlir.dialect.diagnostics import NotAffine
from tir_mlir.dialect.symbolic.expression import Constant, IntExpr, Operation, Sampled, operation, plus

T = TypeVar("T")


def to_affine(expr: IntExpr, leaf: Callable[[Any], ir.AffineExpr]) -> ir.AffineExpr:
    """The affine form, `leaf` of variables and sampled integers. Errors: NotAffine."""
    if isinstance(expr, Constant):
        if isinstance(expr.value, float):
            raise NotAffine(f"{expr.value} is not an index: indices are integers")
        if not -(2**63) <= expr.value < 2**63:
            raise NotAffine(f"{expr.value} does not fit an index (64 bits)")
        return ir.AffineExpr.get_constant(expr.value)
    if not isinstance(expr, Operation):
        return leaf(expr)
    if is_by_variable(expr):
        raise NotAffine(f"{expr}: a product with a size, or a division by one, is not affine")
    lhs, rhs = to_affine(expr.left, leaf), to_affine(expr.right, leaf)
    if expr.symbol == "//":
        return ir.AffineExpr.get_floor_div(lhs, rhs)
    if expr.symbol == "%":
        return ir.AffineExpr.get_mod(lhs, rhs)
    return lhs * rhs if expr.symbol == "*" else lhs + rhs if expr.symbol == "+" else lhs + rhs * -1


def is_by_variable(expr: Operation) -> bool:
    """Whether an operation is a product of two variables, or divides by one: it is not affine."""
    if expr.symbol == "*":
        return not isinstance(expr.left, Constant | Sampled) and not isinstance(expr.right, Constant | Sampled)
    return expr.symbol in ("//", "%") and not isinstance(expr.right, Constant | Sampled)


def fold_affine(expr: ir.AffineExpr, leaf: Callable[[Any], T], apply: Callable[[str, T, T], T]) -> T:
    """The result of `apply` on each operation, from those of its operands: `leaf` of constants, dimensions and symbols.

    A quotient that is rounded up is one that is rounded down: (x + (y - 1)) // y.
    """
    expr = expr.maybe_downcast()
    if not isinstance(expr, ir.AffineBinaryExpr):
        return leaf(expr)
    left, right = fold_affine(expr.lhs, leaf, apply), fold_affine(expr.rhs, leaf, apply)
    if isinstance(expr, ir.AffineCeilDivExpr):
        return apply("//", apply("+", left, fold_affine(expr.rhs - 1, leaf, apply)), right)
    return apply(_SYMBOLS[type(expr)], left, right)


_SYMBOLS = {ir.AffineAddExpr: "+", ir.AffineMulExpr: "*", ir.AffineFloorDivExpr: "//", ir.AffineModExpr: "%"}


def from_affine(expr: ir.AffineExpr, dims: Sequence[IntExpr], symbols: Sequence[IntExpr] = ()) -> IntExpr:
    """The expression of an affine one."""

    def leaf(part: Any) -> IntExpr:
        if isinstance(part, ir.AffineConstantExpr):
            return Constant(part.value)
        return (dims if isinstance(part, ir.AffineDimExpr) else symbols)[part.position]

    return fold_affine(expr, leaf, lambda symbol, a, b: plus(a, b) if symbol == "+" else operation(symbol, a, b))
