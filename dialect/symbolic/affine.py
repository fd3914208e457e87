"""Integer expressions as affine expressions of MLIR, and back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mlir import ir

from tir_mlir.dialect.diagnostics import NotAffine
from tir_mlir.dialect.symbolic.expression import Constant, IntExpr, Operation, Sampled, operation, plus


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
    left, right = to_affine(expr.left, leaf), to_affine(expr.right, leaf)
    if expr.symbol == "//":
        return ir.AffineExpr.get_floor_div(left, right)
    if expr.symbol == "%":
        return ir.AffineExpr.get_mod(left, right)
    return left * right if expr.symbol == "*" else left + right if expr.symbol == "+" else left + right * -1


def is_by_variable(expr: Operation) -> bool:
    """Whether an operation is a product of two variables, or divides by one: it is not affine."""
    if expr.symbol == "*":
        return not isinstance(expr.left, Constant | Sampled) and not isinstance(expr.right, Constant | Sampled)
    return expr.symbol in ("//", "%") and not isinstance(expr.right, Constant | Sampled)


def from_affine(expr: ir.AffineExpr, dims: Sequence[IntExpr], symbols: Sequence[IntExpr] = ()) -> IntExpr:
    """The expression of an affine one; a quotient that is rounded up as one that is rounded down."""
    expr = expr.maybe_downcast()
    if isinstance(expr, ir.AffineDimExpr):
        return dims[expr.position]
    if isinstance(expr, ir.AffineSymbolExpr):
        return symbols[expr.position]
    if isinstance(expr, ir.AffineConstantExpr):
        return Constant(expr.value)
    assert isinstance(expr, ir.AffineBinaryExpr)  # nothing else is an affine expression
    left, right = from_affine(expr.lhs, dims, symbols), from_affine(expr.rhs, dims, symbols)
    if isinstance(expr, ir.AffineAddExpr):
        return plus(left, right)
    if isinstance(expr, ir.AffineCeilDivExpr):
        return (left + (right - 1)) // right
    kinds = {ir.AffineMulExpr: "*", ir.AffineModExpr: "%", ir.AffineFloorDivExpr: "//"}
    return operation(kinds[type(expr)], left, right)
