"""Affine expressions as linear combinations: terms with integer factors, plus a constant."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import NamedTuple

from mlir import ir

from tir_mlir.dialect.diagnostics import NotAffine
from tir_mlir.dialect.ir import ENTRIES, Index, size_products, trim, used_dims


class LinearTerms(NamedTuple):
    """The sum of `factor * term` over `factors`, plus `constant`."""

    factors: Mapping[ir.AffineExpr, int]
    constant: int


class DimFactors(NamedTuple):
    """The sum of `factor * dimension` over `factors`, plus `constant`."""

    factors: Mapping[int, int]
    constant: int


class Split(NamedTuple):
    """The sum of `factors[n] * values[n]` over chosen values, plus `rest`, which uses none of them."""

    factors: tuple[int, ...]
    rest: Index


@lru_cache(maxsize=ENTRIES)
def linear_terms(expr: ir.AffineExpr) -> LinearTerms:
    """An expression as a linear combination of dimensions, divisions and remainders.

    Products by constants are distributed over sums; equal terms are merged, in order of first appearance; terms whose
    factors cancel are dropped. Divisions and remainders are opaque terms.
    """
    factors: dict[ir.AffineExpr, int] = {}
    constant = _collect(expr, 1, factors)
    return LinearTerms(MappingProxyType({term: factor for term, factor in factors.items() if factor}), constant)


def _collect(expr: ir.AffineExpr, factor: int, factors: dict[ir.AffineExpr, int]) -> int:
    """Add `expr * factor` to the factors. Returns the constant part."""
    expr = expr.maybe_downcast()
    if isinstance(expr, ir.AffineConstantExpr):
        return expr.value * factor
    if isinstance(expr, ir.AffineAddExpr):
        return _collect(expr.lhs, factor, factors) + _collect(expr.rhs, factor, factors)
    if isinstance(expr, ir.AffineMulExpr) and isinstance(right := expr.rhs.maybe_downcast(), ir.AffineConstantExpr):
        return _collect(expr.lhs, factor * right.value, factors)
    factors[expr] = factors.get(expr, 0) + factor
    return 0


@lru_cache(maxsize=ENTRIES)
def dim_factors(expr: ir.AffineExpr) -> DimFactors | None:
    """An expression as {dimension: factor} and a constant; None if it contains a division or remainder."""
    terms, constant = linear_terms(expr)
    factors: dict[int, int] = {}
    for term, factor in terms.items():
        if not isinstance(term, ir.AffineDimExpr):
            return None
        factors[term.position] = factor
    return DimFactors(MappingProxyType(factors), constant)


def split_linear(index: Index, values: Sequence[ir.Value]) -> Split | None:
    """`index` as factors of `values` plus a rest without them; None if a division or remainder contains one."""
    position = {v: n for n, v in enumerate(values)}
    factors = [0] * len(values)
    terms, constant = linear_terms(index.expr)
    remainder = ir.AffineExpr.get_constant(0)
    for term, factor in terms.items():
        if isinstance(term, ir.AffineDimExpr) and index.values[term.position] in position:
            factors[position[index.values[term.position]]] += factor
        elif any(index.values[d] in position for d in used_dims(term)):
            return None
        else:
            remainder = remainder + term * factor
    return Split(tuple(factors), trim(remainder + constant, index.values))


def summands(index: Index) -> list[Index]:
    """The terms of a sum, each with its factor, the constant last."""
    terms, constant = linear_terms(index.expr)
    terms_of_index = [trim(term * factor, index.values) for term, factor in terms.items()]
    return [*terms_of_index, Index.constant(constant)] if constant or not terms_of_index else terms_of_index


def times(lhs: Index, rhs: Index) -> Index:
    """The product of two expressions; of sizes, as a sum of products of sizes (`size_products`).

    Errors: NotAffine if both vary with loops or iters, or for a quotient of sizes that may be negative as a factor of a
    size.
    """
    if lhs.as_constant() is not None or rhs.as_constant() is not None:
        return lhs * rhs
    parts = [_sizes(index) for index in (lhs, rhs)]
    result = Index.constant(0)
    for a, lhs_factor in parts[0]:
        for b, rhs_factor in parts[1]:
            factors = [*a, *b]
            term = Index.of(size_products.product(factors)) if len(factors) > 1 else factors[0] if factors else 1
            result = result + Index.wrap(term) * (lhs_factor * rhs_factor)
    return result


def _sizes(index: Index) -> list[tuple[list[Index], int]]:
    """An expression over sizes as terms: ([size], factor), and ([], constant)."""
    terms, constant = linear_terms(index.expr)
    size_terms = [(trim(term, index.values), factor) for term, factor in terms.items()]
    for term, _ in size_terms:
        value = term.is_value()
        if not (size_products.is_quotient(term) if value is None else size_products.is_factor(value)):
            raise NotAffine("a product of two variables is not affine")
    parts = [([term], factor) for term, factor in size_terms]
    return [*parts, ([], constant)] if constant else parts


def has_division(expr: ir.AffineExpr) -> bool:
    """Whether an expression contains a floor, ceiling or remainder, which ranges may simplify."""
    expr = expr.maybe_downcast()
    if not isinstance(expr, ir.AffineBinaryExpr):
        return False
    plain = isinstance(expr, ir.AffineAddExpr | ir.AffineMulExpr)
    return not plain or has_division(expr.lhs) or has_division(expr.rhs)
