"""Common subexpressions of index expressions, largest first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from mlir import ir

from tir_mlir.dialect.ir import Index, trim
from tir_mlir.dialect.symbolic import fold_affine


def common_terms(expressions: Sequence[Index], often: int, is_chosen: Callable[[Index], bool]) -> list[Index]:
    """The subexpressions that occur at least `often` times, largest first, then in order of appearance.

    Operands of a chosen subexpression are not counted again. Those of one that is not `is_chosen`, or too rare, are.
    """
    first: dict[Index, Index] = {}
    for term in [t for expression in expressions for t in _subexpressions(expression)]:
        first.setdefault(canonical(term), term)
    direct = Counter(canonical(t) for t in expressions)
    nested: Counter[Index] = Counter()
    chosen = []
    for name in sorted(first, key=lambda n: -expr_size(first[n].expr)):
        count = direct[name] + nested[name]
        if count >= often and is_chosen(first[name]):
            chosen.append(first[name])
        elif direct[name]:
            for part in _subexpressions(first[name])[1:]:
                nested[canonical(part)] += direct[name]
    return chosen


def _subexpressions(index: Index) -> list[Index]:
    """An expression and its subexpressions, without variables and constants."""
    if expr_size(index.expr) == 1:
        return []
    return [index, *(p for part in operands(index) for p in _subexpressions(part))]


def canonical(index: Index) -> Index:
    """A normal form that does not depend on the order of operands."""
    order = sorted(index.values, key=hash)
    swap = [ir.AffineExpr.get_dim(order.index(v)) for v in index.values]
    expr = index.expr.compose(ir.AffineMap.get(len(order), 0, swap)) if swap else index.expr
    return trim(ir.AffineExpr.simplify_affine_expr(expr, len(order), 0), order)


def operands(index: Index) -> list[Index]:
    """The operands of the outermost operation; a and b for a difference `a + b * -1`."""
    expr = index.expr.maybe_downcast()
    if not isinstance(expr, ir.AffineBinaryExpr):
        return []
    right = subtrahend(expr)
    return [trim(expr.lhs, index.values), trim(expr.rhs if right is None else right, index.values)]


def subtrahend(expr: ir.AffineExpr) -> ir.AffineExpr | None:
    """The subtrahend of a sum: `b` of `a + b * -1`, 1 of `a + -1`; None if it is not a difference."""
    if not isinstance(expr, ir.AffineAddExpr):
        return None
    right = expr.rhs.maybe_downcast()
    if isinstance(right, ir.AffineConstantExpr) and right.value < 0:
        return ir.AffineExpr.get_constant(-right.value)
    if isinstance(right, ir.AffineMulExpr):
        factor = right.rhs.maybe_downcast()
        if isinstance(factor, ir.AffineConstantExpr) and factor.value == -1:
            return right.lhs.maybe_downcast()
    return None


def expr_size(expr: ir.AffineExpr) -> int:
    """The number of operands and operations of an expression."""
    expr = expr.maybe_downcast()
    if not isinstance(expr, ir.AffineBinaryExpr):
        return 1
    right = subtrahend(expr)
    return 1 + expr_size(expr.lhs) + expr_size(expr.rhs if right is None else right)


def values_in_order(index: Index) -> list[ir.Value]:
    """The values of an expression, in order of appearance."""
    dims = fold_affine(
        index.expr, lambda leaf: [leaf] if isinstance(leaf, ir.AffineDimExpr) else [], lambda _, a, b: [*a, *b]
    )
    return [index.values[d] for d in dict.fromkeys(dim.position for dim in dims)]


def contains_any(index: Index, terms: Sequence[Index]) -> bool:
    """Whether an expression contains one of some canonical terms."""
    return canonical(index) in terms or any(contains_any(p, terms) for p in operands(index))
