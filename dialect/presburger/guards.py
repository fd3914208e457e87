"""Simplification under ranges: of affine expressions, and of guards.

`(i * 16 + j) // 16` with 0 <= j < 16 is `i`: by rules on sums of terms (`fold_index` of `intervals`), then by the
gist of isl if a division remains. A result is never longer than the input.

Guards: implied conditions are dropped, and `p >= 0 or q >= 0` is one affine condition (guards are conjunctions). For
bounded p and q: choose K so large that d = (K - 1 - p) floordiv K is 0 where p >= 0 and 1 where p < 0, and c = -min(q).
The disjunction is then q + c - c * d >= 0.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import TypeVar

import islpy as isl
import numpy as np
from mlir import ir

from tir_mlir.dialect.diagnostics import NotProvable
from tir_mlir.dialect.ir import (
    ENTRIES,
    Block,
    Constraint,
    Index,
    Loop,
    cost,
    edit,
    is_block,
    is_loop,
    is_symbol,
    is_where,
    simplified_expr,
    symbol_name,
    symbols_by_name,
    trim,
    walk,
)
from tir_mlir.dialect.ir.op_views import FuncOp, isa
from tir_mlir.dialect.presburger import intervals, sets
from tir_mlir.dialect.presburger.evaluated_indices import Values, index_values
from tir_mlir.dialect.presburger.intervals import (
    Bound,
    Ranges,
    ValueRanges,
    constant_bounds,
    fold_expr,
    fold_index,
    has_division,
    linear_terms,
)
from tir_mlir.dialect.presburger.isl_exprs import recover, to_index
from tir_mlir.dialect.presburger.sets import Domain, dim_type, enclosing, local_space, nonneg, question, to_aff

T = TypeVar("T")


def simplify_index(index: Index, domain: Domain) -> Index:
    """The shorter of the folded form and isl's gist over the iterations of `domain`.

    The result uses dimensions of the domain and shape variables; iters in the domain's environment are kept.
    """
    plain = index.simplify()
    if not has_division(plain.expr):
        return plain
    folded = trim(fold_expr(plain.expr, tuple(_value_range(v, domain) for v in plain.values)), plain.values)
    if not has_division(folded.expr):
        return folded
    symbols = {symbol_name(v): v for v in folded.values if is_symbol(v)}
    symbol_of = {p: symbols.get(p, folded.values[0]) for p in domain.params}  # any value for those that are not used

    def rebuilt(aff: isl.Aff) -> Index | None:
        return to_index(aff, domain.dims, symbol_of) if _used_params(aff) <= set(symbols) else None

    shorter = _gist(lambda: domain.aff(folded), domain.set, rebuilt)
    return shorter if shorter is not None and cost(shorter.expr) < cost(folded.expr) else folded


@lru_cache(maxsize=ENTRIES)
def simplify_expr(expr: ir.AffineExpr, ranges: Ranges) -> ir.AffineExpr:
    """The shorter of the folded form and isl's gist; `ranges` has one entry per dimension."""
    folded = fold_expr(expr, ranges).maybe_downcast()
    if not has_division(folded):
        return folded
    count = len(ranges)
    local = local_space(count, [])
    zero = isl.Aff.zero_on_domain(local)
    dims = [isl.Aff.var_on_domain(local, dim_type.set, d) for d in range(count)]
    points = isl.Set.universe(local.get_space())
    for var, (low, high) in zip(dims, ranges, strict=True):
        if low is not None:
            points = points.intersect(nonneg(var.add_constant_val(isl.Val(-low))))
        if high is not None:
            points = points.intersect(nonneg(var.neg().add_constant_val(isl.Val(high))))
    exprs = [ir.AffineExpr.get_dim(d) for d in range(count)]

    def rebuilt(aff: isl.Aff) -> ir.AffineExpr:
        return recover(aff, exprs, count) if aff.get_denominator_val().is_one() else folded

    shorter = _gist(lambda: to_aff(folded, dims, zero), points, rebuilt)
    if shorter is None or cost(shorter) >= cost(folded):
        return folded
    return simplified_expr(shorter, count).maybe_downcast()


def _gist(aff: Callable[[], isl.Aff], points: isl.Set, rebuilt: Callable[[isl.Aff], T]) -> T | None:
    """isl's simplification over some points; None if over budget or if the result is not affine."""
    try:
        with question("simplification"):
            return rebuilt(aff().gist(points))
    except NotProvable:
        return None


def _used_params(aff: isl.Aff) -> set[str]:
    """The parameters that an expression uses: those of the domain too, as x mod 3 is x - 3 n where x // 3 is n."""
    count = aff.dim(dim_type.param)
    return {aff.get_dim_name(dim_type.param, i) or "" for i in range(count) if aff.involves_dims(dim_type.param, i, 1)}


def _value_range(value: ir.Value, domain: Domain) -> tuple[Bound, Bound]:
    """The minimum and maximum of a dimension; a shape variable is at least 0."""
    if value not in domain.dims:
        return (0, None) if is_symbol(value) else (None, None)
    position = domain.index_of(value)
    ends = domain.set.dim_min_val(position), domain.set.dim_max_val(position)
    return tuple(e.to_python() if e.is_int() else None for e in ends)  # type: ignore[return-value]


# --- rules by interval arithmetic -------------------------------------------------------------------------------------


def disjunction(first: Constraint, second: Constraint, box: ValueRanges) -> Constraint | None:
    """The disjunction of two inequalities as one condition; None if ranges give no bounds."""
    if first.is_eq or second.is_eq:
        return None
    least, most = intervals.interval(first.index, box)
    floor = intervals.interval(second.index, box)[0]
    if least is None or most is None or floor is None:
        return None
    if least >= 0 or floor >= 0:
        return Constraint(Index.constant(0))
    size = max(-least, most + 1, 2)
    late = (size - 1 - first.index) // size
    return Constraint((second.index - floor + late * floor).simplify())


def sides(condition: Constraint, box: ValueRanges) -> tuple[Constraint, Constraint] | None:
    """The two inequalities of a condition created by `either`; None for any other condition."""
    if condition.is_eq or not has_division(condition.index.expr):
        return None
    terms, constant = linear_terms(condition.index.expr)
    late = [t for t, factor in terms.items() if isinstance(t, ir.AffineFloorDivExpr) and factor < 0]
    return next((pair for t in late if (pair := _sides_at(condition, terms, constant, t, box)) is not None), None)


def _sides_at(
    condition: Constraint,
    terms: Mapping[ir.AffineExpr, int],
    constant: int,
    late: ir.AffineFloorDivExpr,
    box: ValueRanges,
) -> tuple[Constraint, Constraint] | None:
    """The two inequalities if the quotient `late` is that of `either`."""
    first = Index.constant(constant)
    for term, factor in terms.items():
        if term != late:
            first = first + trim(term * factor, condition.index.values)
    over, size = trim(late.lhs, condition.index.values), ir.AffineConstantExpr(late.rhs).value
    low, high = intervals.interval(over, box)
    if low is None or high is None or low < 0 or high >= 2 * size:
        return None
    second = (first + terms[late]).simplify()
    if second.as_constant() is not None or not intervals.at_least_zero(first, box):
        return None
    return Constraint((size - 1 - over).simplify()), Constraint(second)


def drop_implied_conditions(block: Block, guard: Sequence[Constraint]) -> list[Constraint]:
    """The conditions of a guard not implied by the loops or by other conditions; of equivalent ones, the first."""
    dom = sets.domain(block.outermost, extra=[c.index for c in guard])
    conditions = list(guard)
    alone = false_alone(block.outermost, guard)
    for number, condition in reversed(list(enumerate(guard))):
        if number in alone:
            continue
        others = dom.set
        for second in conditions:
            if second is not condition:
                others = others.intersect(sets.constraint_set(dom, second))
        if others.is_subset(sets.constraint_set(dom, condition)):
            conditions = [c for c in conditions if c is not condition]  # by identity: an equal condition may be kept
    return conditions


def rewrite(block: Block, guard: ir.Operation, conditions: Sequence[Constraint]) -> None:
    """Replace the conditions of a guard; a guard without conditions is removed."""
    if conditions:
        edit.rebuild_guard(guard, conditions)
    else:
        edit.move_before(block.op, guard)
        edit.erase(guard)


def has_guards(root: ir.Operation) -> bool:
    return any(is_where(op) for op in walk.ops(root))


def normalize(root: ir.Operation) -> None:
    """Canonicalize guards: drop implied conditions, simplify the rest, remove guards without conditions."""
    for op in [op for op in walk.ops(root) if is_where(op)]:
        block = walk.blocks_below(op, with_init=True)[0]
        units = {lp.var: lp.lower for lp in walk.loops_above(op) if lp.const_extent == 1}
        box = intervals.enclosing_ranges(op)
        conditions = [
            Constraint(_fold_with_remainders(c.index.substitute(units), box), c.is_eq) for c in walk.constraints(op)
        ]
        try:
            with question("which conditions of a guard are implied"):
                conditions = drop_implied_conditions(block, conditions)
        except NotProvable:
            pass
        rewrite(block, op, conditions)


def _fold_with_remainders(index: Index, box: ValueRanges) -> Index:
    """A simplified sum in which remainders are not written as quotients, as MLIR's simplification does."""
    folded = fold_index(index.simplify(), box)
    return fold_index(trim(_as_remainders(folded.expr), folded.values), box)


def _as_remainders(expr: ir.AffineExpr) -> ir.AffineExpr:
    """`x floordiv k * (k * c)` -> `(x - x mod k) * c`, for all such terms of a sum."""
    terms, constant = linear_terms(expr)
    result = ir.AffineExpr.get_constant(constant)
    for term, factor in terms.items():
        if isinstance(term, ir.AffineFloorDivExpr):
            dividend, divisor = term.lhs, ir.AffineConstantExpr(term.rhs).value
            if factor % divisor == 0:
                term, factor = dividend - ir.AffineExpr.get_mod(dividend, divisor), factor // divisor
        result = result + term * factor
    return result


TRIED = 1 << 12
"""Iterations that are tried."""


def false_alone(op: ir.Operation, guard: Sequence[Constraint]) -> set[int]:
    """The positions of conditions that are false at an iteration of the loops around `op` at which all others are true.

    Others of which none is found may be so as well. Only for loops of constant ranges below which nothing is
    conditional, in functions without sizes.
    """
    points = _sample_iterations(op)
    if points is None:
        return set()
    values = [index_values(c.index, points) for c in guard]
    decided = [v for v in values if v is not None]
    if len(decided) != len(guard):
        return set()
    false = [v != 0 if c.is_eq else v < 0 for c, v in zip(guard, decided, strict=True)]
    count = np.sum(np.broadcast_arrays(*false), axis=0) if false else 0
    return {n for n, column in enumerate(false) if np.any(column & (count == 1))}


def _sample_iterations(op: ir.Operation) -> dict[ir.Value, Values] | None:
    """Values of the loops around an op at some iterations, the same in each run; None if these are not plain."""
    chain = enclosing(op.block, None)
    if symbols_by_name(op) or not all(is_loop(p) or is_block(p) or isa(p, FuncOp) for p in chain):
        return None
    draw = np.random.default_rng(0)
    points: dict[ir.Value, Values] = {}
    for parent in chain:
        if is_loop(parent):
            ends = constant_bounds(parent)
            if ends is None or ends[1] < ends[0]:
                return None
            points[Loop(parent).var] = draw.integers(ends[0], ends[1] + 1, TRIED)
    return points
