"""Simplification of index expressions under ranges: same value at every point, and never longer."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from random import Random
from typing import Any

from mlir import ir

from fuzzing.inputs.judging import Fault
from tir_mlir.dialect.ir import cost, enter_context
from tir_mlir.dialect.presburger import fold_expr
from tir_mlir.dialect.symbolic import APPLY, fold_affine

Range = tuple[int | None, int | None]
SIZES = (2, 3, 4, 6, 8, 12, 16, 18)
FACTORS = (-2, 2, 3, 4, 8, 16)
UNKNOWN: tuple[Range, ...] = ((None, None), (0, None), (None, 5))
FAR = tuple(itertools.product((-37, -1, 0, 50), (0, 3, 1000), (-9, 0, 5)))
"""Sample points for UNKNOWN."""


def expression(random: Random, leaves: int = 8) -> ir.AffineExpr:
    """Return a sum of products, quotients and remainders of three dimensions and constants."""
    if leaves < 2 or random.random() < 0.15:
        if random.random() < 0.7:
            return ir.AffineExpr.get_dim(random.randrange(3))
        return ir.AffineExpr.get_constant(random.randint(-7, 20))
    match random.randrange(3):
        case 0:
            left = random.randrange(1, leaves)
            return expression(random, left) + expression(random, leaves - left)
        case 1:
            return expression(random, leaves - 1) * random.choice(FACTORS)
    make = random.choice((ir.AffineExpr.get_floor_div, ir.AffineExpr.get_mod, ir.AffineExpr.get_ceil_div))
    return make(expression(random, leaves - 1), random.choice(SIZES))


def value(expr: ir.AffineExpr, point: Sequence[int]) -> int:
    """Evaluate an expression over dimensions at a point."""

    def leaf(part: Any) -> int:
        return part.value if isinstance(part, ir.AffineConstantExpr) else point[part.position]

    return fold_affine(expr, leaf, lambda symbol, a, b: APPLY[symbol](a, b))


def in_ranges(random: Random) -> None:
    """Simplify with a range for every dimension. Errors: Fault."""
    extents = [random.randint(1, 20) for _ in range(3)]
    points = itertools.product(*[sorted({0, 1, e // 2, e - 1} & set(range(e))) for e in extents])
    with enter_context():
        expr = expression(random)
        folded = fold_expr(expr, tuple((0, e - 1) for e in extents))
        if cost(folded) > cost(expr):
            raise Fault(f"simplified expression is longer: {expr} -> {folded} over {extents}")
        _same(expr, folded, list(points))


def anywhere(random: Random) -> None:
    """Simplify with unknown or partly known ranges. Errors: Fault."""
    with enter_context():
        expr = expression(random)
        _same(expr, fold_expr(expr, UNKNOWN), FAR)


def _same(expr: ir.AffineExpr, folded: ir.AffineExpr, points: Sequence[Sequence[int]]) -> None:
    for point in points:
        if value(folded, point) != value(expr, point):
            raise Fault(f"simplified expression has a different value: {expr} -> {folded} at {point}")


def case(random: Random) -> str:
    """Check thirty expressions."""
    for _ in range(15):
        in_ranges(random)
        anywhere(random)
    return "accepted"
