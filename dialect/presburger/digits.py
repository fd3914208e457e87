"""Digits of fused loops: quotients and remainders of loop variables as digits of mixed-radix numbers.

A fused variable `f` in [0, 64) that occurs as `f floordiv 8` and `f mod 8` is `8 * a + b`, with a and b in [0, 8). The
digits are independent of each other, and in their order f increases: over digits the expressions are linear, which
decides most questions without isl, and without the divisions on which isl spends its budget.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import NamedTuple

from mlir import ir

from tir_mlir.dialect.ir import ENTRIES, Index, trim, used_dims

_MAX_DIGITS = 64
_ZERO: Mapping[int, int] = MappingProxyType({})


class Digit(NamedTuple):
    """The digit of dimension `dim` with the weight `place`: a number in [low, high]. A whole dimension has place 1."""

    dim: int
    place: int
    low: int
    high: int


class DigitSum(NamedTuple):
    """The sum of `factor * digit`, plus `constant`, plus `rest`, an expression of opaque dimensions (None: zero)."""

    factors: Mapping[int, int]
    constant: int
    rest: ir.AffineExpr | None = None


class InDigits(NamedTuple):
    """Expressions as sums of digits. The digits of a dimension are independent, most significant first."""

    digits: tuple[Digit, ...]
    sums: tuple[DigitSum, ...]


class IndexSum(NamedTuple):
    """An index as `rest`, which has no digits, plus digits given as (factor, low, high); `numbers` identify them."""

    rest: Index
    digits: list[tuple[int, int, int]]
    numbers: tuple[int, ...]


class _Cut(Exception):
    """A digit must be split: it takes `least` values below the place where the expression divides it."""

    def __init__(self, digit: int, least: int):
        super().__init__()
        self.digit, self.least = digit, least


class _NoDigits(Exception):
    """An expression is no sum of digits."""


@lru_cache(maxsize=ENTRIES)
def in_digits(exprs: tuple[ir.AffineExpr, ...], ranges: tuple[tuple[int, int] | None, ...]) -> InDigits | None:
    """Expressions over dimensions of these ranges (first and last value; None: opaque) as sums of digits.

        d0 floordiv 8 * 128 + d1, d0 mod 8 with d0 in [0, 64)   -->   digits a * 8 + b = d0, d1: a * 128 + d1, b

    None if a divisor cuts a variable at a place that does not divide its extent, and for the quotient of a sum of
    digits and opaque dimensions.
    """
    digits = [Digit(dim, 1, *ends) for dim, ends in enumerate(ranges) if ends is not None]
    while len(digits) <= _MAX_DIGITS:
        try:
            return InDigits(tuple(digits), tuple(_sum(expr, digits, ranges) for expr in exprs))
        except _NoDigits:
            return None
        except _Cut as cut:
            dim, weight, low, high = digits[cut.digit]
            if low != 0 or (high + 1) % cut.least:
                return None
            upper = Digit(dim, weight * cut.least, 0, (high + 1) // cut.least - 1)
            digits[cut.digit : cut.digit + 1] = [upper, Digit(dim, weight, 0, cut.least - 1)]
    return None


def _sum(expr: ir.AffineExpr, digits: Sequence[Digit], ranges: Sequence[tuple[int, int] | None]) -> DigitSum:
    """An expression as a sum of digits. Raises _Cut or _NoDigits."""
    expr = expr.maybe_downcast()
    if isinstance(expr, ir.AffineConstantExpr):
        return DigitSum(_ZERO, expr.value)
    if isinstance(expr, ir.AffineDimExpr):
        if ranges[expr.position] is None:
            return DigitSum(_ZERO, 0, expr)
        return DigitSum({n: d.place for n, d in enumerate(digits) if d.dim == expr.position}, 0)
    if not isinstance(expr, ir.AffineBinaryExpr):
        raise _NoDigits
    if all(ranges[dim] is None for dim in used_dims(expr)):
        return DigitSum(_ZERO, 0, expr)
    lhs = _sum(expr.lhs, digits, ranges)
    if isinstance(expr, ir.AffineAddExpr):
        return _plus(lhs, _sum(expr.rhs, digits, ranges))
    by = ir.AffineConstantExpr(expr.rhs).value
    if isinstance(expr, ir.AffineMulExpr):
        scaled_rest = None if lhs.rest is None else lhs.rest * by
        return DigitSum(
            {n: f * by for n, f in lhs.factors.items() if by}, lhs.constant * by, scaled_rest if by else None
        )
    if isinstance(expr, ir.AffineCeilDivExpr) or by <= 0:
        raise _NoDigits
    return _divided(lhs, by, digits, isinstance(expr, ir.AffineModExpr))


def _plus(a: DigitSum, b: DigitSum) -> DigitSum:
    factors = {n: f for n in {**a.factors, **b.factors} if (f := a.factors.get(n, 0) + b.factors.get(n, 0))}
    opaque = b.rest if a.rest is None else a.rest if b.rest is None else a.rest + b.rest
    return DigitSum(factors, a.constant + b.constant, opaque)


def _divided(total: DigitSum, by: int, digits: Sequence[Digit], remainder: bool) -> DigitSum:
    """The quotient or remainder of a sum: of the terms that `by` does not divide, which must be in [0, by)."""
    if total.rest is not None:
        raise _NoDigits
    below = {n: f for n, f in total.factors.items() if f % by}
    constant = total.constant % by
    for number, factor in below.items():
        least, most = digits[number].low, digits[number].high
        if 0 < factor < by and by % factor == 0 and most >= by // factor > 1 and least >= 0:
            raise _Cut(number, by // factor)
    ends = [sorted((f * digits[n].low, f * digits[n].high)) for n, f in below.items()]
    if constant + sum(low for low, _ in ends) < 0 or constant + sum(high for _, high in ends) >= by:
        raise _NoDigits
    if remainder:
        return DigitSum(below, constant)
    return DigitSum({n: f // by for n, f in total.factors.items() if n not in below}, (total.constant - constant) // by)


def index_sums(indices: Sequence[Index], ranges: Mapping[ir.Value, tuple[int, int]]) -> list[IndexSum] | None:
    """Index expressions as sums of digits of the values in `ranges` (first and last value); other values are opaque.

    None if `in_digits` has none.
    """
    indices = [i.simplified() for i in indices]
    values = list(dict.fromkeys(v for i in indices for v in i.values))
    dim_of = {v: ir.AffineExpr.get_dim(n) for n, v in enumerate(values)}
    over = [ir.AffineMap.get(len(values), 0, [dim_of[v] for v in i.values]) for i in indices]
    exprs = tuple(i.expr.compose(map_) for i, map_ in zip(indices, over, strict=True))
    split = in_digits(exprs, tuple(ranges.get(v) for v in values))
    if split is None:
        return None
    result = []
    for total in split.sums:
        opaque = Index.constant(total.constant) + (0 if total.rest is None else trim(total.rest, values))
        digits = [(factor, split.digits[n].low, split.digits[n].high) for n, factor in total.factors.items()]
        result.append(IndexSum(opaque, digits, tuple(total.factors)))
    return result
