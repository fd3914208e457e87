"""Simplification of affine expressions under ranges: `(i * 16 + j) // 16` with 0 <= j < 16 is `i`.

By rules on sums of terms (`fold_index` of `intervals`), then by isl's gist if a division remains. A result is never
longer than the input.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TypeVar

import islpy as isl
from mlir import ir

from tir_mlir.dialect.diagnostics import NotProvable
from tir_mlir.dialect.ir import ENTRIES, Index, cost, is_symbol, simplified_expr, symbol_name, trim
from tir_mlir.dialect.presburger.intervals import Bound, Ranges, fold_expr, has_division
from tir_mlir.dialect.presburger.isl_exprs import recover, to_index
from tir_mlir.dialect.presburger.sets import Domain, dim_type, local_space, nonneg, question, to_aff

T = TypeVar("T")


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
