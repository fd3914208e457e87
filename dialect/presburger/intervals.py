"""Interval arithmetic on affine expressions as linear combinations, the fast path before isl.

`True` is definitive; `False` means unknown. Attributes are uniqued, so that to ask again of what a step left unchanged
is a lookup. `fold_index` simplifies: `(i * 16 + j) // 16` with 0 <= j < 16 is `i`; never longer than the input.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from math import gcd
from types import MappingProxyType
from typing import NamedTuple

from mlir import ir

from tir_mlir.dialect.diagnostics import NotAffine
from tir_mlir.dialect.ir import (
    ENTRIES,
    Block,
    Index,
    attrs,
    cache_while_frozen,
    cost,
    is_block,
    is_symbol,
    over_dims,
    size_products,
    trim,
    used_dims,
)
from tir_mlir.dialect.ir.op_traits import MEMREF_OPERAND
from tir_mlir.dialect.ir.op_views import AffineForOp, AllocLikeOp, FuncOp, isa


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
            term = (
                Index.from_value(size_products.product(factors)) if len(factors) > 1 else factors[0] if factors else 1
            )
            result = result + Index.wrap(term) * (lhs_factor * rhs_factor)
    return result


def _sizes(index: Index) -> list[tuple[list[Index], int]]:
    """An expression over sizes as terms: ([size], factor), and ([], constant)."""
    terms, constant = linear_terms(index.expr)
    parts: list[tuple[list[Index], int]] = []
    for expr, factor in terms.items():
        term, less = _factor(trim(expr, index.values))
        parts.append(([term], factor))
        constant -= less * factor
    return [*parts, ([], constant)] if constant else parts


def _factor(term: Index) -> tuple[Index, int]:
    """A size as one that is not negative, less a number: `(n - 3) // 4` -> `(n + 1) // 4`, 1. Errors: NotAffine."""
    value = term.is_value()
    if size_products.is_quotient(term) if value is None else size_products.is_factor(value):
        return term, 0
    expr, (least, _) = term.expr.maybe_downcast(), interval(term, {})
    if isinstance(expr, ir.AffineFloorDivExpr) and least is not None and least < 0:
        dividend = trim(expr.lhs, term.values) - least * ir.AffineConstantExpr(expr.rhs).value
        raised = fold_index(dividend // ir.AffineConstantExpr(expr.rhs).value, {})
        if size_products.is_quotient(raised):
            return raised, -least
    raise NotAffine("a product of two variables is not affine")


def has_division(expr: ir.AffineExpr) -> bool:
    """Whether an expression contains a floor, ceiling or remainder, which ranges may simplify."""
    expr = expr.maybe_downcast()
    if not isinstance(expr, ir.AffineBinaryExpr):
        return False
    plain = isinstance(expr, ir.AffineAddExpr | ir.AffineMulExpr)
    return not plain or has_division(expr.lhs) or has_division(expr.rhs)


Bound = int | None  # None: unbounded
Range = tuple[Bound, Bound]
ValueRanges = dict[ir.Value, tuple[Bound, Bound]]


def enclosing_ranges(op: ir.Operation) -> ValueRanges:
    """The ranges of the loop variables and iters around an op: loops by their bounds, iters by their domains."""
    parent = None if op.name in FuncOp.names else op.parent
    return {} if parent is None else body_ranges(parent.operation)


@cache_while_frozen
def body_ranges(op: ir.Operation) -> ValueRanges:
    """The ranges of the variables of an op and of the ops around it."""
    outer = enclosing_ranges(op)
    is_for = op.name in AffineForOp.names
    if not is_for and not is_block(op):
        return outer
    box, facts = dict(outer), op.attributes
    if is_for:
        operands = op.operands
        operand_ranges = tuple([known_range(v, box) for v in operands]) if len(operands) else ()
        bounds = _loop_range(facts["lowerBoundMap"], facts["upperBoundMap"], operand_ranges)
        box[op.regions[0].blocks[0].arguments[0]] = bounds
    else:
        ranges = _iter_ranges(facts[attrs.MIN], facts[attrs.EXTENT])
        if ranges is not None:
            box.update(zip(op.regions[0].blocks[0].arguments, ranges, strict=False))  # without iters: a dummy argument
            return box
        for it in Block(op).iters:
            low, high = interval(it.min, box)[0], interval(it.min + it.extent, box)[1]
            box[it.var] = (low, None if high is None else high - 1)
    return box


@lru_cache(maxsize=ENTRIES)
def _iter_ranges(mins: ir.Attribute, extents: ir.Attribute) -> tuple[Range, ...] | None:
    """The ranges of the iters of a block with a constant domain; None for any other."""
    lows = [constant_of(e) for e in attrs.map_of(mins).results]
    counts = [constant_of(e) for e in attrs.map_of(extents).results]
    if None in lows or None in counts:
        return None
    return tuple((low, low + count - 1) for low, count in zip(lows, counts, strict=True))  # type: ignore[operator]


@lru_cache(maxsize=ENTRIES)
def _loop_range(
    lower: ir.Attribute, upper: ir.Attribute, operand_ranges: tuple[tuple[Bound, Bound], ...]
) -> tuple[Bound, Bound]:
    """The range of a loop variable, from the maps of its bounds and the ranges of their operands."""
    low, high = attrs.map_of(lower), attrs.map_of(upper)
    cut = low.n_inputs
    lows = [expr_interval(e, operand_ranges[:cut])[0] for e in over_dims(low)]
    highs = [expr_interval(e, operand_ranges[cut:])[1] for e in over_dims(high)]
    least = None if None in lows else max(v for v in lows if v is not None)
    ends = [v for v in highs if v is not None]
    return least, min(ends) - 1 if ends else None


def known_range(value: ir.Value, box: ValueRanges) -> tuple[Bound, Bound]:
    """The range of a value; a shape variable is at least 0."""
    if value in box:
        return box[value]
    return (0, None) if is_symbol(value) else (None, None)


def interval(index: Index, box: ValueRanges) -> tuple[Bound, Bound]:
    """The minimum and maximum of an expression; shape variables are >= 0."""
    return expr_interval(index.expr, [known_range(v, box) for v in index.values])


def expr_interval(expr: ir.AffineExpr, dims: Sequence[tuple[Bound, Bound]]) -> tuple[Bound, Bound]:
    """The minimum and maximum of an expression over dimensions of known ranges."""
    expr = expr.maybe_downcast()
    if isinstance(expr, ir.AffineConstantExpr):
        return expr.value, expr.value
    if isinstance(expr, ir.AffineDimExpr):
        return dims[expr.position]
    assert isinstance(expr, ir.AffineBinaryExpr)  # symbols are dimensions here
    low, high = expr_interval(expr.lhs, dims)
    if isinstance(expr, ir.AffineAddExpr):
        other_low, other_high = expr_interval(expr.rhs, dims)
        return add_bounds(low, other_low), add_bounds(high, other_high)
    factor = ir.AffineConstantExpr(expr.rhs).value
    if isinstance(expr, ir.AffineMulExpr):
        ends = _scale(low, factor), _scale(high, factor)
        return ends if factor >= 0 else (ends[1], ends[0])
    if isinstance(expr, ir.AffineModExpr):
        is_below = low is not None and high is not None and 0 <= low and high < factor
        return (low, high) if is_below else (0, factor - 1)
    up = factor - 1 if isinstance(expr, ir.AffineCeilDivExpr) else 0
    return tuple(None if v is None else (v + up) // factor for v in (low, high))  # type: ignore[return-value]


def add_bounds(a: Bound, b: Bound) -> Bound:
    """The sum of two bounds, unbounded if one is."""
    return None if a is None or b is None else a + b


def _scale(value: Bound, factor: int) -> Bound:
    return 0 if factor == 0 else None if value is None else value * factor


def at_least_zero(index: Index, box: ValueRanges) -> bool:
    """Whether intervals show `index >= 0`; `False` means unknown."""
    low = interval(index.simplify(), box)[0]
    return low is not None and low >= 0


def is_in_range(index: Index, extent: Index, low: Index, size: Index, box: ValueRanges) -> bool:
    """Whether intervals show that [index, index + extent) lies in [low, low + size); `False` means unknown."""
    start, count = low.as_constant(), size.as_constant()
    if start is None or count is None:
        return False
    least, most = interval(index, box)
    longest = interval(extent, box)[1]
    if least is None or most is None or longest is None:
        return False
    return start <= least and most + longest <= start + count


def only_positive(expr: ir.AffineExpr) -> bool:
    """Whether an expression is a sum of dimensions with positive factors."""
    linear = dim_factors(expr)
    return linear is not None and all(f > 0 for f in linear.factors.values())


def constant_bounds(loop: ir.Operation) -> tuple[int, int] | None:
    """The first and last value of a loop with constant bounds (last < first: it is empty); else None."""
    facts = loop.attributes
    return _constant_bounds(facts["lowerBoundMap"], facts["upperBoundMap"])


@lru_cache(maxsize=ENTRIES)
def _constant_bounds(lower: ir.Attribute, upper: ir.Attribute) -> tuple[int, int] | None:
    low, high = attrs.map_of(lower), attrs.map_of(upper)
    if len(low.results) != 1 or len(high.results) != 1:
        return None
    first, end = constant_of(over_dims(low)[0]), constant_of(over_dims(high)[0])
    return None if first is None or end is None else (first, end - 1)


def constant_of(expr: ir.AffineExpr) -> int | None:
    return expr.value if isinstance(expr, ir.AffineConstantExpr) else None


def are_bindings_in_domain(op: ir.Operation, box: ValueRanges) -> bool:
    """Whether intervals show that every binding of a block lies in its iter's constant domain."""
    facts = op.attributes
    low = attrs.map_of(facts["lowerBoundsMap"])
    ranges = _ranges_of(list(op.operands)[: low.n_inputs], box)
    return _are_bindings_in_domain(low, ranges, attrs.map_of(facts[attrs.MIN]), attrs.map_of(facts[attrs.EXTENT]))


@lru_cache(maxsize=ENTRIES)
def _are_bindings_in_domain(
    low: ir.AffineMap, ranges: tuple[Range, ...], mins: ir.AffineMap, extents: ir.AffineMap
) -> bool:
    if mins.n_symbols:
        return False
    domains = zip(over_dims(low), over_dims(mins), over_dims(extents), strict=False)  # a dummy argument has no domain
    for binding, start, extent in domains:
        first, count = constant_of(start), constant_of(extent)
        least, most = expr_interval(binding, ranges)
        if first is None or count is None or least is None or most is None:
            return False
        if least < first or most >= first + count:
            return False
    return True


def is_access_in_bounds(op: ir.Operation, memref: ir.Value, box: ValueRanges) -> bool:
    """Whether intervals show that an affine load or store remains inside its buffer of constant shape."""
    owner = memref.owner
    if not isinstance(owner, ir.Block) and not isa(owner, AllocLikeOp):
        return False
    ranges = _ranges_of(list(op.operands)[MEMREF_OPERAND[op.name] + 1 :], box)
    return _is_access_in_bounds(attrs.map_of(op.attributes["map"]), ranges, tuple(ir.MemRefType(memref.type).shape))


@lru_cache(maxsize=ENTRIES)
def _is_access_in_bounds(map_: ir.AffineMap, ranges: tuple[Range, ...], shape: tuple[int, ...]) -> bool:
    for expr, size in zip(over_dims(map_), shape, strict=True):
        least, most = expr_interval(expr, ranges)
        if least is None or most is None or least < 0 or most >= size:
            return False
    return True


def _ranges_of(values: list[ir.Value], box: ValueRanges) -> tuple[Range, ...]:
    return tuple([box.get(v) or ((0, None) if is_symbol(v) else (None, None)) for v in values])


Ranges = tuple[tuple[Bound, Bound], ...]


Terms = dict[ir.AffineExpr, int]


def fold_index(index: Index, box: ValueRanges) -> Index:
    """`index` simplified by interval arithmetic on the ranges of its values in `box`."""
    return trim(fold_expr(index.expr, tuple(known_range(v, box) for v in index.values)), index.values)


def expand_index(index: Index, box: ValueRanges) -> Index:
    """`index` as a sum of as many terms as interval arithmetic finds: (i * 64 + j) // 16 -> i * 4 + j // 16."""
    return trim(_build(*_terms_of(index.expr, tuple(known_range(v, box) for v in index.values))), index.values)


@lru_cache(maxsize=ENTRIES)
def fold_expr(expr: ir.AffineExpr, ranges: Ranges) -> ir.AffineExpr:
    """The shortest form found by interval arithmetic; `ranges` has one entry per dimension."""
    terms, constant = _terms_of(expr, ranges)
    folded = _build(terms, constant)
    return folded if cost(folded) <= cost(expr) else expr


def _terms_of(expr: ir.AffineExpr, ranges: Ranges) -> tuple[Terms, int]:
    """An expression as {term: factor} and a constant; terms are dimensions and simplified floors and remainders."""
    linear, constant = linear_terms(expr)
    terms: Terms = {}
    for term, factor in linear.items():
        part, offset = _atom(term, ranges)
        terms = _add_terms(terms, _scale_terms(part, factor))
        constant += offset * factor
    return terms, constant


def _atom(expr: ir.AffineExpr, ranges: Ranges) -> tuple[Terms, int]:
    """A dimension, division or remainder as a simplified sum."""
    if isinstance(expr, ir.AffineDimExpr):
        return {expr: 1}, 0
    assert isinstance(expr, ir.AffineBinaryExpr)  # symbols are dimensions here
    terms, constant = _terms_of(expr.lhs, ranges)
    divisor = ir.AffineConstantExpr(expr.rhs).value
    if isinstance(expr, ir.AffineModExpr):
        return _remainder(terms, constant, divisor, ranges)
    up = divisor - 1 if isinstance(expr, ir.AffineCeilDivExpr) else 0
    return _floor(terms, constant + up, divisor, ranges)


def _add_terms(lhs: Mapping[ir.AffineExpr, int], rhs: Mapping[ir.AffineExpr, int]) -> Terms:
    total = dict(lhs)
    for term, factor in rhs.items():
        total[term] = total.get(term, 0) + factor
    return {t: f for t, f in total.items() if f}


def _scale_terms(terms: Mapping[ir.AffineExpr, int], factor: int) -> Terms:
    return {t: f * factor for t, f in terms.items()} if factor else {}


def _build(terms: Mapping[ir.AffineExpr, int], constant: int) -> ir.AffineExpr:
    result = ir.AffineExpr.get_constant(constant)
    for term, factor in reversed(list(terms.items())):
        result = (term * factor) + result
    return result.maybe_downcast()


def _range(terms: Mapping[ir.AffineExpr, int], constant: int, ranges: Ranges) -> tuple[Bound, Bound]:
    return expr_interval(_build(terms, constant), ranges)


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
    if len(undivided) == 1 and low is not None and high is not None:
        (term, factor), *_ = undivided.items()
        if high - low == abs(factor):  # two values: any function of them is linear
            below, above = low // divisor, high // divisor
            least, _ = expr_interval(term, ranges)
            assert least is not None
            start, rise = (below, above - below) if factor > 0 else (above, below - above)
            return _add_terms(quotients, {term: rise}), shift + start - rise * least
    if (digits := _digits(undivided, constant, divisor, ranges)) is not None:
        part, offset = _floor(digits.quotient, digits.above, divisor // digits.unit, ranges)
        return _add_terms(quotients, part), shift + offset
    if len(undivided) == 1:
        (term, factor), *_ = undivided.items()
        inner = term.maybe_downcast()
        if factor == 1 and isinstance(inner, ir.AffineFloorDivExpr):  # (x // a + k) // c = (x + a * k) // (a * c)
            step = ir.AffineConstantExpr(inner.rhs).value
            terms, start = _terms_of(inner.lhs, ranges)
            part, offset = _floor(terms, start + step * constant, step * divisor, ranges)
            return _add_terms(quotients, part), shift + offset
    return _add_terms(
        quotients, {ir.AffineExpr.get_floor_div(_build(undivided, constant), divisor).maybe_downcast(): 1}
    ), shift


def _remainder(terms: Terms, constant: int, divisor: int, ranges: Ranges) -> tuple[Terms, int]:
    """(terms + constant) % divisor."""
    opened: Terms = {}
    for term, factor in terms.items():
        inner = term.maybe_downcast()
        if isinstance(inner, ir.AffineModExpr) and factor * ir.AffineConstantExpr(inner.rhs).value % divisor == 0:
            inner_terms, shift = _terms_of(inner.lhs, ranges)  # (x % (k * c) + y) % c = (x + y) % c
            opened = _add_terms(opened, _scale_terms(inner_terms, factor))
            constant += shift * factor
        else:
            opened = _add_terms(opened, {term: factor})
    undivided, constant = {t: f for t, f in opened.items() if f % divisor}, constant % divisor
    low, high = _range(undivided, constant, ranges)
    if low is not None and high is not None and low // divisor == high // divisor:
        return undivided, constant - low // divisor * divisor
    if (digits := _digits(undivided, constant, divisor, ranges)) is not None:
        part, inner_terms = _remainder(digits.quotient, digits.above, divisor // digits.unit, ranges)
        return _add_terms(_scale_terms(part, digits.unit), digits.low), inner_terms * digits.unit + digits.left
    return {ir.AffineExpr.get_mod(_build(undivided, constant), divisor).maybe_downcast(): 1}, 0


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
