"""Digits of fused and split loops: quotients and remainders of loop variables as digits of mixed-radix numbers.

A fused variable `f` in [0, 64) that occurs as `f floordiv 8` and `f mod 8` is `8 * a + b`, with a and b in [0, 8).
Split again, it is a sum `f_0 * 16 + f_1`, guarded by `f_0 * 16 + f_1 < n` if 16 does not divide: these loops are one
number again, which is cut where the quotients divide it. The digits are independent of each other, and in their order
the number increases: over digits the expressions are linear, which decides most questions without isl, and without the
divisions on which isl spends its budget.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from types import MappingProxyType
from typing import NamedTuple

from mlir import ir

from tir_mlir.dialect.ir import ENTRIES, Index, trim, used_dims
from tir_mlir.dialect.presburger.intervals import dim_factors

_MAX_DIGITS = 64
Ends = tuple[int, int]


class MixedRadixNumber(NamedTuple):
    """The sum of `weight * dimension`, which takes each value in [low, high] once."""

    weights: Mapping[int, int]
    low: int
    high: int

    @property
    def is_sum(self) -> bool:
        return len(self.weights) > 1


class Digit(NamedTuple):
    """A digit of a number, with its weight: a value in [low, high]. A whole number has weight 1."""

    number: int
    weight: int
    low: int
    high: int


class DigitSum(NamedTuple):
    """The sum of `factor * digit`, plus `constant`, plus `rest`, an expression of opaque dimensions (None: zero)."""

    factors: Mapping[int, int]
    constant: int
    rest: ir.AffineExpr | None = None


class InDigits(NamedTuple):
    """Expressions as sums of digits. The digits of a number are independent, most significant first."""

    digits: tuple[Digit, ...]
    sums: tuple[DigitSum, ...]
    numbers: tuple[MixedRadixNumber, ...]


class IndexSum(NamedTuple):
    """An index as `rest`, which has no digits, plus digits given as (factor, low, high); `numbers` identify them."""

    rest: Index
    digits: list[tuple[int, int, int]]
    numbers: tuple[int, ...]


class _Slice(NamedTuple):
    """`x mod end floordiv start` of a number x; without an end, `x floordiv start`."""

    number: int
    start: int
    end: int | None


class _SliceSum(NamedTuple):
    """The sum of `factor * slice`, plus `constant`, plus `rest` (see DigitSum)."""

    factors: Mapping[_Slice, int]
    constant: int
    rest: ir.AffineExpr | None = None


class _NoDigits(Exception):
    """An expression is not a sum of digits."""


_ZERO: Mapping[_Slice, int] = MappingProxyType({})


@lru_cache(maxsize=ENTRIES)
def in_digits(
    exprs: tuple[ir.AffineExpr, ...], ranges: tuple[Ends | None, ...], guards: tuple[ir.AffineExpr, ...] = ()
) -> InDigits | None:
    """Expressions over dimensions of these ranges (first and last value; None: opaque) as sums of digits.

        d0 floordiv 8 * 128 + d1, d0 mod 8 with d0 in [0, 64)   -->   digits a * 8 + b = d0, d1: a * 128 + d1, b
        (d0 * 16 + d1) floordiv 10 where 39 - (d0 * 16 + d1) >= 0   -->   digits a * 10 + b = d0 * 16 + d1: a

    `guards` are >= 0 wherever the expressions are evaluated. Those that say only which values a sum of dimensions
    takes become the range of that sum; the caller adds the others. None if divisors cut a number at positions of which
    one does not divide the next or the count of its values, and for the quotient of a sum of digits and opaque
    dimensions.
    """
    guarded = _disjoint_numbers([_bounded_number(guard, ranges) for guard in guards])
    plain = _attempt(exprs, ranges, guarded)
    if plain is not None:
        return plain
    dividends = [number for expr in exprs for number in _dividends(expr, ranges)]
    numbers = _disjoint_numbers([*guarded, *dividends])
    return None if len(numbers) == len(guarded) else _attempt(exprs, ranges, numbers)


def is_range_of(guard: ir.AffineExpr, ranges: Sequence[Ends | None], numbers: Sequence[MixedRadixNumber]) -> bool:
    """Whether a guard says only that one of the numbers is in its range."""
    number = _bounded_number(guard, tuple(ranges))
    return number is not None and number in numbers


def _attempt(
    exprs: Sequence[ir.AffineExpr], ranges: Sequence[Ends | None], sums: Sequence[MixedRadixNumber]
) -> InDigits | None:
    in_sum = {dim for number in sums for dim in number.weights}
    single = [
        MixedRadixNumber({dim: 1}, *ends) for dim, ends in enumerate(ranges) if ends is not None and dim not in in_sum
    ]
    slices = _Slices((*sums, *single), ranges)
    try:
        parts = [slices.slice_sum(expr) for expr in exprs]
        digits = _digits(slices.numbers, {piece for part in parts for piece in part.factors})
    except _NoDigits:
        return None
    if len(digits) > _MAX_DIGITS:
        return None
    return InDigits(digits, tuple(_in_digits(part, digits) for part in parts), slices.numbers)


# --- sums of dimensions that are numbers of their own ----------------------------------------------------------------


def _bounded_number(guard: ir.AffineExpr, ranges: Sequence[Ends | None]) -> MixedRadixNumber | None:
    """The number that a guard `last - (d0 * 16 + d1) >= 0` bounds; None if it is not such a guard."""
    linear = dim_factors(guard)
    if linear is None:
        return None
    return _number({dim: -factor for dim, factor in linear.factors.items()}, ranges, linear.constant)


def _number(
    weights: Mapping[int, int], ranges: Sequence[Ends | None], last: int | None = None
) -> MixedRadixNumber | None:
    """A sum of dimensions as a number, of at most `last`; None if it is not in mixed radix."""
    high, digits = 0, {}
    for dim, weight in sorted(weights.items(), key=lambda item: item[1]):
        ends = ranges[dim]
        if ends is None or ends[0] != 0 or ends[1] < 0:
            return None
        if ends[1] == 0:
            continue
        if weight != high + 1:
            return None
        digits[dim] = weight
        high += weight * ends[1]
    if len(digits) < (2 if last is None else 1) or (last is not None and last < 0):
        return None
    return MixedRadixNumber(MappingProxyType(digits), 0, high if last is None else min(high, last))


def _dividends(expr: ir.AffineExpr, ranges: Sequence[Ends | None]) -> list[MixedRadixNumber]:
    """The sums of dimensions that an expression divides, as numbers."""
    expr = expr.maybe_downcast()
    if not isinstance(expr, ir.AffineBinaryExpr):
        return []
    if isinstance(expr, ir.AffineModExpr | ir.AffineFloorDivExpr) and (linear := dim_factors(expr.lhs)) is not None:
        number = None if linear.constant else _number(linear.factors, ranges)
        return [] if number is None else [number]
    return [*_dividends(expr.lhs, ranges), *_dividends(expr.rhs, ranges)]


def _disjoint_numbers(numbers: Sequence[MixedRadixNumber | None]) -> list[MixedRadixNumber]:
    """The longest numbers of which no two have a dimension in common; of the same one, that with the tightest range."""
    result: list[MixedRadixNumber] = []
    for number in sorted((n for n in numbers if n is not None), key=lambda n: (-len(n.weights), n.high)):
        if not any(number.weights.keys() & other.weights.keys() for other in result):
            result.append(number)
    return result


# --- slices of numbers -----------------------------------------------------------------------------------------------


class _Slices:
    """Expressions as sums of slices of numbers."""

    def __init__(self, numbers: tuple[MixedRadixNumber, ...], ranges: Sequence[Ends | None]):
        self.numbers = numbers
        self._dims: dict[int, _SliceSum] = {}
        for dim, ends in enumerate(ranges):
            if ends is not None and ends[0] == ends[1]:
                self._dims[dim] = _SliceSum(_ZERO, ends[0])
        for position, number in enumerate(numbers):
            weights = sorted(number.weights.items(), key=lambda item: item[1])
            ends_of_slices: list[int | None] = [*(weight for _, weight in weights[1:]), None]
            for (dim, weight), end in zip(weights, ends_of_slices, strict=True):
                self._dims.setdefault(dim, _SliceSum({_Slice(position, weight, end): 1}, 0))

    def slice_sum(self, expr: ir.AffineExpr) -> _SliceSum:
        """An expression as a sum of slices. Raises _NoDigits."""
        expr = expr.maybe_downcast()
        if isinstance(expr, ir.AffineConstantExpr):
            return _SliceSum(_ZERO, expr.value)
        if isinstance(expr, ir.AffineDimExpr):
            return self._dims.get(expr.position) or _SliceSum(_ZERO, 0, expr)
        if not isinstance(expr, ir.AffineBinaryExpr):
            raise _NoDigits
        if not any(dim in self._dims for dim in used_dims(expr)):
            return _SliceSum(_ZERO, 0, expr)
        lhs = self.slice_sum(expr.lhs)
        if isinstance(expr, ir.AffineAddExpr):
            return self._plus(lhs, self.slice_sum(expr.rhs))
        by = ir.AffineConstantExpr(expr.rhs).value
        if isinstance(expr, ir.AffineMulExpr):
            rest = None if lhs.rest is None or not by else lhs.rest * by
            return _SliceSum({s: f * by for s, f in lhs.factors.items() if by}, lhs.constant * by, rest)
        if isinstance(expr, ir.AffineCeilDivExpr) or by <= 0 or lhs.rest is not None:
            raise _NoDigits
        remainder = isinstance(expr, ir.AffineModExpr)
        try:
            return self._divide(lhs, by, remainder)
        except _NoDigits:
            multiple, quotient = self._congruent(lhs, by)
            divided = self._divide(multiple, by, remainder)
            return divided if remainder else self._plus(divided, quotient)

    def _congruent(self, total: _SliceSum, by: int) -> tuple[_SliceSum, _SliceSum]:
        """A sum with the same remainder, of a whole number: `(d0 - d1 + d2) mod 3` is `(d0 * 64 + d1 * 8 + d2) mod 3`;
        and what its quotient lacks: `(d0 - d1 + d2) floordiv 3` is that of the number, less `d0 * 21 + d1 * 3`. Or of
        the upper digits of a number.

        Raises _NoDigits.
        """
        for position, number in enumerate(self.numbers):
            own_digits = {s: f for s, f in total.factors.items() if s.number == position}
            start = min((s.start for s in own_digits), default=1)
            weights = {dim: weight for dim, weight in number.weights.items() if weight >= start}
            excess = {dim: weight // start - _factor_of(own_digits, weight) for dim, weight in weights.items()}
            if number.is_sum and own_digits and not any(value % by for value in excess.values()):
                others = {s: f for s, f in total.factors.items() if s not in own_digits}
                quotient = _SliceSum(_ZERO, 0)
                for dim, value in excess.items():
                    quotient = self._plus(quotient, _scale(self._dims[dim], -(value // by)))
                return total._replace(factors={**others, _Slice(position, start, None): 1}), quotient
        raise _NoDigits

    def _plus(self, a: _SliceSum, b: _SliceSum) -> _SliceSum:
        factors = {s: f for s in {**a.factors, **b.factors} if (f := a.factors.get(s, 0) + b.factors.get(s, 0))}
        remainder = b.rest if a.rest is None else a.rest if b.rest is None else a.rest + b.rest
        return _SliceSum(_join_adjacent_slices(factors), a.constant + b.constant, remainder)

    def _divide(self, total: _SliceSum, by: int, remainder: bool) -> _SliceSum:
        """The quotient or remainder of a sum: of the terms that `by` does not divide."""
        if total.factors and max(total.factors.values()) < 0:  # x // k = -((k - 1 - x) // k)
            part = self._divide(_scale(total, -1, by - 1), by, remainder)
            return _scale(part, -1, by - 1 if remainder else 0)
        above = {s: f // by for s, f in total.factors.items() if f % by == 0}
        below = {s: f for s, f in total.factors.items() if f % by}
        carried, constant = divmod(total.constant, by)
        low, high = self._ends(below, constant)
        if low < 0 or high >= by:
            piece = max(below, key=lambda s: below[s])
            factor = below.pop(piece)
            low, high = self._ends(below, constant)
            if factor <= 0 or by % factor or low < 0 or high >= factor:
                raise _NoDigits
            upper, lower = self._cut(piece, by // factor)
            below |= {lower: factor}
            above = above if upper is None else _join_adjacent_slices({**above, upper: above.get(upper, 0) + 1})
        return _SliceSum(_join_adjacent_slices(below), constant) if remainder else _SliceSum(above, carried)

    def _ends(self, factors: Mapping[_Slice, int], constant: int) -> Ends:
        ends = [sorted(f * end for end in self._range(s)) for s, f in factors.items()]
        return constant + sum(low for low, _ in ends), constant + sum(high for _, high in ends)

    def _range(self, piece: _Slice) -> Ends:
        number = self.numbers[piece.number]
        if piece.start == 1 and piece.end is None:
            return number.low, number.high
        most = number.high // piece.start
        return 0, most if piece.end is None else min(most, piece.end // piece.start - 1)

    def _cut(self, piece: _Slice, by: int) -> tuple[_Slice | None, _Slice]:
        """The quotient (None: zero) and remainder of a slice."""
        number, start = piece.number, piece.start * by
        if self.numbers[number].low != 0 or (piece.end is not None and piece.end % start):
            raise _NoDigits
        upper = None if piece.end == start or start > self.numbers[number].high else _Slice(number, start, piece.end)
        return upper, _Slice(number, piece.start, start)


def _scale(total: _SliceSum, by: int, constant: int = 0) -> _SliceSum:
    """`total * by + constant`; of a sum without opaque dimensions."""
    return _SliceSum({s: f * by for s, f in total.factors.items()}, total.constant * by + constant)


def _factor_of(factors: Mapping[_Slice, int], weight: int) -> int:
    """The factor of the dimension with a weight, in a sum of slices of its number."""
    pieces = ((s, f) for s, f in factors.items() if s.start <= weight and (s.end is None or weight < s.end))
    return next((factor * (weight // piece.start) for piece, factor in pieces), 0)


def _join_adjacent_slices(factors: Mapping[_Slice, int]) -> Mapping[_Slice, int]:
    """A sum in which slices that follow each other are one: `x floordiv 8 * 8 + x mod 8` is x."""
    result = dict(factors)
    for piece in sorted(factors, key=lambda s: -s.start):
        if piece.end is None:
            continue
        factor = result[piece] * (piece.end // piece.start)
        upper = next((s for s in result if s[:2] == (piece.number, piece.end) and result[s] == factor), None)
        if upper is not None and piece.end % piece.start == 0:
            del result[upper]
            result[_Slice(piece.number, piece.start, upper.end)] = result.pop(piece)
    return result


def _digits(numbers: Sequence[MixedRadixNumber], pieces: set[_Slice]) -> tuple[Digit, ...]:
    """The digits of the numbers, cut where slices start and end. Raises _NoDigits if these are not independent."""
    digits: list[Digit] = []
    for position, number in enumerate(numbers):
        weights = {1, *(p for s in pieces if s.number == position for p in s[1:] if p is not None)}
        cuts = sorted(weight for weight in weights if weight == 1 or weight <= number.high)
        if any(end % start for start, end in pairwise(cuts)):
            raise _NoDigits
        if len(cuts) > 1 and (number.high + 1) % cuts[-1]:
            raise _NoDigits
        ends = [(start, 0, end // start - 1) for start, end in pairwise(cuts)]
        ends.append((1, number.low, number.high) if len(cuts) == 1 else (cuts[-1], 0, number.high // cuts[-1]))
        digits += [Digit(position, *end) for end in reversed(ends)]
    return tuple(digits)


def _in_digits(total: _SliceSum, digits: Sequence[Digit]) -> DigitSum:
    factors: dict[int, int] = {}
    for piece, factor in total.factors.items():
        for n, digit in enumerate(digits):
            is_inside = digit.weight >= piece.start and (piece.end is None or digit.weight < piece.end)
            if digit.number == piece.number and is_inside:
                part = factor * (digit.weight // piece.start)
                factors[n] = factors.get(n, 0) + part
    return DigitSum({n: f for n, f in factors.items() if f}, total.constant, total.rest)


def index_sums(indices: Sequence[Index], ranges: Mapping[ir.Value, Ends]) -> list[IndexSum] | None:
    """Index expressions as sums of digits of the values in `ranges` (first and last value); other values are opaque.

    None if `in_digits` has none.
    """
    indices = [i.simplify() for i in indices]
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
