"""Simplification of affine expressions under ranges: `(i * 16 + j) // 16` with 0 <= j < 16 is `i`.

`fold_*` applies rules on sums of terms by interval arithmetic; `simplify_*` continues with isl's gist if a division
remains. A result is never longer than the input.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from math import gcd
from typing import NamedTuple, TypeVar

import islpy as isl
from mlir import ir

from tir_mlir.dialect.diagnostics import NotProvable
from tir_mlir.dialect.ir import ENTRIES, Index, cost, is_symbol, simplified_expr, symbol_name, trim
from tir_mlir.dialect.presburger.intervals import Bound, ValueRanges, known_range, of_expr
from tir_mlir.dialect.presburger.isl_exprs import recover, to_index
from tir_mlir.dialect.presburger.linear_terms import has_division, linear_terms
from tir_mlir.dialect.presburger.sets import Domain, dim_type, local_space, nonneg, question, to_aff

AffineExpr = ir.AffineExpr
Ranges = tuple[tuple[Bound, Bound], ...]
Terms = dict[ir.AffineExpr, int]
T = TypeVar("T")


def fold_index(index: Index, box: ValueRanges) -> Index:
    """`index` simplified by interval arithmetic on the ranges of its values in `box`."""
    return trim(fold_expr(index.expr, tuple(known_range(v, box) for v in index.values)), index.values)


def simplify_index(index: Index, domain: Domain) -> Index:
    """The shorter of the folded form and isl's gist over the iterations of `domain`.

    The result uses dimensions of the domain and shape variables; iters in the domain's environment are kept.
    """
    plain = index.simplified()
    if not has_division(plain.expr):
        return plain
    folded = trim(fold_expr(plain.expr, tuple(_value_range(v, domain) for v in plain.values)), plain.values)
    if not has_division(folded.expr):
        return folded
    symbols = {symbol_name(v): v for v in folded.values if is_symbol(v)}
    symbol_of = {p: symbols.get(p, folded.values[0]) for p in domain.params}  # any value for those that are not used

    def rebuilt(aff: isl.Aff) -> Index | None:
        return to_index(aff, domain.dims, symbol_of) if _involved(aff) <= set(symbols) else None

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
    exprs = [AffineExpr.get_dim(d) for d in range(count)]

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


def _involved(aff: isl.Aff) -> set[str]:
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


@lru_cache(maxsize=ENTRIES)
def fold_expr(expr: ir.AffineExpr, ranges: Ranges) -> ir.AffineExpr:
    """The shortest form found by interval arithmetic; `ranges` has one entry per dimension."""
    terms, constant = _sum(expr, ranges)
    folded = _build(terms, constant)
    return folded if cost(folded) <= cost(expr) else expr


def _sum(expr: ir.AffineExpr, ranges: Ranges) -> tuple[Terms, int]:
    """An expression as {term: factor} and a constant; terms are dimensions and simplified floors and remainders."""
    linear, constant = linear_terms(expr)
    terms: Terms = {}
    for term, factor in linear.items():
        part, offset = _atom(term, ranges)
        terms = _added(terms, _scaled(part, factor))
        constant += offset * factor
    return terms, constant


def _atom(expr: ir.AffineExpr, ranges: Ranges) -> tuple[Terms, int]:
    """A dimension, division or remainder as a simplified sum."""
    if isinstance(expr, ir.AffineDimExpr):
        return {expr: 1}, 0
    assert isinstance(expr, ir.AffineBinaryExpr)  # symbols are dimensions here
    terms, constant = _sum(expr.lhs, ranges)
    divisor = ir.AffineConstantExpr(expr.rhs).value
    if isinstance(expr, ir.AffineModExpr):
        return _remainder(terms, constant, divisor, ranges)
    up = divisor - 1 if isinstance(expr, ir.AffineCeilDivExpr) else 0
    return _floor(terms, constant + up, divisor, ranges)


def _added(lhs: Mapping[ir.AffineExpr, int], rhs: Mapping[ir.AffineExpr, int]) -> Terms:
    total = dict(lhs)
    for term, factor in rhs.items():
        total[term] = total.get(term, 0) + factor
    return {t: f for t, f in total.items() if f}


def _scaled(terms: Mapping[ir.AffineExpr, int], factor: int) -> Terms:
    return {t: f * factor for t, f in terms.items()} if factor else {}


def _build(terms: Mapping[ir.AffineExpr, int], constant: int) -> ir.AffineExpr:
    result = AffineExpr.get_constant(constant)
    for term, factor in reversed(list(terms.items())):
        result = (term * factor) + result
    return result.maybe_downcast()


def _range(terms: Mapping[ir.AffineExpr, int], constant: int, ranges: Ranges) -> tuple[Bound, Bound]:
    return of_expr(_build(terms, constant), ranges)


def _floor(terms: Terms, constant: int, divisor: int, ranges: Ranges) -> tuple[Terms, int]:
    """(terms + constant) // divisor."""
    quotients = {t: f // divisor for t, f in terms.items() if f % divisor == 0}
    undivided = {t: f for t, f in terms.items() if f % divisor}
    if constant % divisor == 0 or not undivided:
        shift, constant = divmod(constant, divisor)
    else:
        shift = 0
    low, high = _range(undivided, constant, ranges)
    if low is not None and high is not None and low // divisor == high // divisor:
        return quotients, shift + low // divisor
    if (digits := _digits(undivided, constant, divisor, ranges)) is not None:
        part, offset = _floor(digits.quotient, digits.above, divisor // digits.unit, ranges)
        return _added(quotients, part), shift + offset
    if len(undivided) == 1:
        (term, factor), *_ = undivided.items()
        inner = term.maybe_downcast()
        if factor == 1 and isinstance(inner, ir.AffineFloorDivExpr):  # (x // a + k) // c = (x + a * k) // (a * c)
            step = ir.AffineConstantExpr(inner.rhs).value
            terms, start = _sum(inner.lhs, ranges)
            part, offset = _floor(terms, start + step * constant, step * divisor, ranges)
            return _added(quotients, part), shift + offset
    return _added(
        quotients, {AffineExpr.get_floor_div(_build(undivided, constant), divisor).maybe_downcast(): 1}
    ), shift


def _remainder(terms: Terms, constant: int, divisor: int, ranges: Ranges) -> tuple[Terms, int]:
    """(terms + constant) % divisor."""
    opened: Terms = {}
    for term, factor in terms.items():
        inner = term.maybe_downcast()
        if isinstance(inner, ir.AffineModExpr) and factor * ir.AffineConstantExpr(inner.rhs).value % divisor == 0:
            inner_terms, shift = _sum(inner.lhs, ranges)  # (x % (k * c) + y) % c = (x + y) % c
            opened = _added(opened, _scaled(inner_terms, factor))
            constant += shift * factor
        else:
            opened = _added(opened, {term: factor})
    undivided, constant = {t: f for t, f in opened.items() if f % divisor}, constant % divisor
    low, high = _range(undivided, constant, ranges)
    if low is not None and high is not None and low // divisor == high // divisor:
        return undivided, constant - low // divisor * divisor
    if (digits := _digits(undivided, constant, divisor, ranges)) is not None:
        part, inner_terms = _remainder(digits.quotient, digits.above, divisor // digits.unit, ranges)
        return _added(_scaled(part, digits.unit), digits.low), inner_terms * digits.unit + digits.left
    return {AffineExpr.get_mod(_build(undivided, constant), divisor).maybe_downcast(): 1}, 0


class _Digits(NamedTuple):
    """A sum as `unit * (quotient + above) + (low + left)` with `0 <= low + left < unit`."""

    unit: int
    quotient: Terms
    above: int
    low: Terms
    left: int


def _digits(terms: Terms, constant: int, divisor: int, ranges: Ranges) -> _Digits | None:
    """The sum with its low digit apart, for the largest unit that divides `divisor`; None if no unit is proved."""
    units = {gcd(f, divisor) for f in terms.values()} - {1, divisor}
    for unit in sorted(units, reverse=True):
        low_terms = {t: f for t, f in terms.items() if f % unit}
        above, remainder = divmod(constant, unit)
        low, high = _range(low_terms, remainder, ranges)
        if low is not None and high is not None and 0 <= low and high < unit:
            return _Digits(unit, {t: f // unit for t, f in terms.items() if f % unit == 0}, above, low_terms, remainder)
    return None
