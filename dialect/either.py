"""`p >= 0 or q >= 0` as one affine condition, where both have bounds: guards are conjunctions.

With K so large that d = (K - 1 - p) floordiv K is 0 where p >= 0 and 1 where p < 0, and c = -(least value of q), it is
q + c - c * d >= 0.
"""

from __future__ import annotations

from mlir import ir

from tir_mlir.dialect import ranges
from tir_mlir.dialect.from_isl import has_division
from tir_mlir.dialect.index import Constraint, Index
from tir_mlir.dialect.ranges import Box


def either(first: Constraint, second: Constraint, box: Box) -> Constraint | None:
    """One condition that holds where one of two inequalities does; None where ranges give no bounds."""
    if first.is_eq or second.is_eq:
        return None
    least, most = ranges.interval(first.index, box)
    floor = ranges.interval(second.index, box)[0]
    if least is None or most is None or floor is None:
        return None
    if least >= 0 or floor >= 0:
        return Constraint(Index.constant(0))
    size = max(-least, most + 1, 2)
    late = (size - 1 - first.index) // size
    return Constraint((second.index - floor + late * floor).simplified())


def sides(condition: Constraint, box: Box) -> tuple[Constraint, Constraint] | None:
    """The two inequalities of which a condition made by `either` says that one holds; None for any other condition."""
    if condition.is_eq or not has_division(condition.index.expr):
        return None
    rest = Index.constant(0)
    found: tuple[Index, int, int] | None = None
    for expr in _terms(condition.index.expr):
        term = Index(expr, condition.index.values).trimmed()
        floor = _scaled_floor(term)
        if floor is None:
            rest = rest + term
        elif found is not None:
            return None
        else:
            found = floor
    if found is None:
        return None
    over, size, factor = found
    low, high = ranges.interval(over, box)
    plain = low is not None and high is not None and low >= 0 and high < 2 * size and factor < 0
    second = (rest + factor).simplified()
    if not plain or second.as_constant() is not None or not ranges.at_least_zero(rest, box):
        return None
    return Constraint((size - 1 - over).simplified()), Constraint(second)


def _terms(expr: ir.AffineExpr) -> list[ir.AffineExpr]:
    expr = expr.maybe_downcast()
    if isinstance(expr, ir.AffineAddExpr):
        return _terms(expr.lhs) + _terms(expr.rhs)
    return [expr]


def _scaled_floor(term: Index) -> tuple[Index, int, int] | None:
    """(x, size, factor) of a term `(x floordiv size) * factor`."""
    expr, factor = term.expr.maybe_downcast(), 1
    if isinstance(expr, ir.AffineMulExpr) and isinstance(expr.rhs.maybe_downcast(), ir.AffineConstantExpr):
        factor = ir.AffineConstantExpr(expr.rhs).value
        expr = expr.lhs.maybe_downcast()
    if not isinstance(expr, ir.AffineFloorDivExpr):
        return None
    return Index(expr.lhs, term.values).trimmed(), ir.AffineConstantExpr(expr.rhs).value, factor
