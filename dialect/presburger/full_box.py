"""Check that loops visit every point of a box exactly once: by mixed-radix digits, else by isl."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from math import inf
from typing import NamedTuple

import islpy as isl
from mlir import ir

from tir_mlir.dialect.diagnostics import NotProvable, TirError
from tir_mlir.dialect.ir import (
    ENTRIES,
    Block,
    Index,
    Iter,
    Loop,
    attrs,
    constraints,
    is_block,
    is_inside,
    is_loop,
    loops_above,
    over_dims,
    parents,
    symbols_by_name,
)
from tir_mlir.dialect.presburger.digits import DigitSum, in_digits, index_sums
from tir_mlir.dialect.presburger.intervals import (
    Bound,
    DimFactors,
    add_bounds,
    constant_bounds,
    constant_of,
    dim_factors,
    split_linear,
)
from tir_mlir.dialect.presburger.isl_exprs import to_index
from tir_mlir.dialect.presburger.sets import (
    Domain,
    dim_type,
    domain,
    flatten,
    local_space,
    nonneg,
    question,
    region_map,
    smallest_point,
)
from tir_mlir.dialect.presburger.size_conditions import only_where


class NotABox(TirError):
    """Iterations that miss a point of their bounding box, visit one twice, or have varying bounds."""


BoxBounds = tuple[list[Index], list[Index]]


def box_of(iterators: Sequence[ir.Value], op: ir.Operation, top: ir.Operation, names: Sequence[str]) -> BoxBounds:
    """Minimum and extent of every iterator in the iterations of `op` inside `top`, as expressions of outer values.

    The bounds alone do not suffice: a set with holes, or a triangle, has the same. The set must equal its bounding box.
    Errors: NotABox.
    """
    plain = _plain_box(iterators, op, top)
    if plain is not None:
        return plain
    order = ", ".join(names)
    try:
        with question(f"whether the iterations ({order}) are a full box"):
            return _isl_box(iterators, op, top, order)
    except NotProvable as error:
        raise NotABox(str(error)) from error


def _plain_box(iterators: Sequence[ir.Value], op: ir.Operation, top: ir.Operation) -> BoxBounds | None:
    """The box if each iterator is an outer value plus a mixed-radix number in its own loops; else None."""
    chain = [p for p in parents(op) if p != top and is_inside(p, top)]
    loops = {Loop(p).var: Loop(p) for p in chain if is_loop(p)}
    bound = {i.var: i.binding for p in chain if is_block(p) for i in Block(p).iters}
    inner = {*loops, *bound}
    mins, extents = [], []
    for iterator in iterators:
        binding = bound.get(iterator, Index.from_value(iterator)).simplify()
        loop_vars = [v for v in binding.values if v in loops]
        split = split_linear(binding, loop_vars)
        bounds = [constant_bounds(loops.pop(v).op) for v in loop_vars]
        if split is None or any(v in inner for v in split.rest.values):  # no outer value: an iter, another's loop
            return None
        digits = [(factor, *ends) for factor, ends in zip(split.factors, bounds, strict=True) if ends is not None]
        reach = span(digits)
        if len(digits) < len(loop_vars) or not loop_vars or not (reach.dense and reach.distinct) or reach.low is None:
            return None
        mins.append((split.rest + reach.low).simplify())
        extents.append(Index.constant(reach.size or 0))
    return (mins, extents) if not loops else None


def _isl_box(iterators: Sequence[ir.Value], op: ir.Operation, top: ir.Operation, order: str) -> BoxBounds:
    dom = domain(op, top, guards=False)
    outer, symbols = dom.dims[: dom.outer], symbols_by_name(op)
    image = dom.relation([dom.env[v] for v in iterators])
    params = [isl.Aff.var_on_domain(dom.zero.get_domain_local_space(), dim_type.set, n) for n in range(dom.outer)]
    if not dom.relation([*params, *(dom.env[v] for v in iterators)]).is_injective():
        raise NotABox(f"two iterations of its loops are bound to the same point ({order})")
    image = image.project_out(dim_type.in_, dom.outer, len(dom.dims) - dom.outer)
    mins, extents = [], []
    for number in range(len(iterators)):
        low = to_index(_single(image.dim_min(number), image.domain()), outer, symbols)
        high = to_index(_single(image.dim_max(number), image.domain()), outer, symbols)
        mins.append(low)
        extents.append((high - low + 1).simplify())
    full = region_map(_outer_domain(dom, top), mins, extents).intersect_domain(image.domain())
    missing = full.subtract(image)
    if not missing.is_empty():
        point = (smallest_point(flatten(missing)) or [])[-len(iterators) :]
        sizes = " x ".join(str(e.as_constant() or "n") for e in extents)
        coordinates = ", ".join(map(str, point))
        way = only_where(missing, op)
        raise NotABox(f"its iterations are not a full box of {sizes}: ({order}) = ({coordinates}) is left out{way}")
    return mins, extents


def _outer_domain(dom: Domain, top: ir.Operation) -> Domain:
    """The domain of the outer values of `dom`, its loops projected out."""
    first = top.regions[0].blocks[0].operations[0].operation
    return domain(first, top, [Index.from_value(v) for v in dom.dims[: dom.free]])


def _single(bound: isl.PwAff, context: isl.Set) -> isl.Aff:
    pieces = bound.coalesce().gist(context).get_pieces()
    if len(pieces) != 1:
        raise NotABox("the bounds of its iterations have several cases")
    return pieces[0][1]


# --- digits: sums of loop variables that enumerate an interval ------------------------------------------------------


class Span(NamedTuple):
    """The values of a sum of digits, in [low, high] (None: unbounded).

    dense: every value in between is taken.
    distinct: different digits give different values.
    """

    low: Bound
    high: Bound
    dense: bool
    distinct: bool

    @property
    def size(self) -> int | None:
        """The number of values in [low, high]."""
        return None if self.low is None or self.high is None else self.high - self.low + 1

    def fills(self, start: int, extent: int) -> bool:
        """Whether the values are exactly [start, start + extent), each taken once."""
        return self.dense and self.distinct and self.low == start and self.size == extent


def span(digits: Iterable[tuple[int, int, Bound]], start: int = 0, width: int = 1) -> Span:
    """The values of `start + sum(factor * d)` for digits `(factor, least, most)`, d in [least, most] independently.

    `width`: each sum starts that many consecutive values. In order of increasing factor, a digit causes no duplicates
    if its factor is at least the width of the digits below it, and no gaps if it is at most that width; in a
    mixed-radix number both hold.
    """
    ends = start, start + width - 1
    low: Bound = ends[0]
    high: Bound = ends[1]
    steps: list[tuple[int, float]] = []
    for factor, least, most in digits:
        if most is not None and most < least:
            return Span(start, start - 1, dense=True, distinct=True)
        bounds = factor * least, None if most is None else factor * most
        low = add_bounds(low, bounds[0] if factor >= 0 else bounds[1])
        high = add_bounds(high, bounds[1] if factor >= 0 else bounds[0])
        if most != least:
            steps.append((abs(factor), inf if most is None else most - least + 1))
    dense = distinct = True
    reach: float = width
    for factor, count in sorted(steps):
        dense, distinct = dense and factor <= reach, distinct and factor >= reach
        reach += factor * (count - 1)
    return Span(low, high, dense, distinct)


def index_span(index: Index, loops: Mapping[ir.Value, Loop]) -> Span | None:
    """The values of a sum of loop variables with constant bounds; None for any other expression."""
    index = index.simplify()
    linear = dim_factors(index.expr)
    if linear is None:
        return None
    digits = []
    for dim, factor in linear.factors.items():
        bounds = constant_bounds(loops[index.values[dim]].op) if index.values[dim] in loops else None
        if bounds is None:
            return None
        digits.append((factor, *bounds))
    return span(digits, linear.constant)


def is_injective(rows: Sequence[Sequence[int]], counts: Sequence[int | None]) -> bool:
    """Whether a linear map is injective on the box [0, counts); a count of None means unbounded.

    `rows` has one row of factors per result. False also if isl exceeds its budget.
    """
    open_ = {n for n, count in enumerate(counts) if count is None or count > 1}
    if any(not any(row[n] for row in rows) for n in open_):
        return False  # no row distinguishes the values of this digit
    while open_:
        solved: set[int] = set()
        for row in rows:
            columns = [n for n in open_ if row[n]]
            digits = [(row[n], 0, None if (count := counts[n]) is None else count - 1) for n in columns]
            if span(digits).distinct:  # the value determines the digits: other rows need not distinguish them
                solved.update(columns)
        if not solved:
            return _isl_injective([[row[n] for n in sorted(open_)] for row in rows], [counts[n] for n in sorted(open_)])
        open_ -= solved
    return True


def _isl_injective(rows: Sequence[Sequence[int]], counts: Sequence[int | None]) -> bool:
    local = local_space(len(counts), [])
    zero = isl.Aff.zero_on_domain(local)
    dims = [isl.Aff.var_on_domain(local, dim_type.set, n) for n in range(len(counts))]
    points = isl.Set.universe(local.get_space())
    for var, count in zip(dims, counts, strict=True):
        points = points.intersect(nonneg(var))
        if count is not None:
            points = points.intersect(nonneg(var.neg().add_constant_val(isl.Val(count - 1))))
    sums = []
    for row in rows:
        total = zero
        for var, factor in zip(dims, row, strict=True):
            total = total.add(var.scale_val(isl.Val(factor)))
        sums.append(total)
    try:
        with question("whether two points of a box have the same image"):
            return Domain([], [], points, {}, zero).relation(sums).is_injective()
    except NotProvable:
        return False


# --- blocks -----------------------------------------------------------------------------------------------------------


def is_full_box(block: Block, loops: Sequence[Loop] | None = None) -> bool:
    """Whether the loops around a block visit each point of its domain exactly once, by attributes and intervals.

    Each iter must be bound to a mixed-radix number in its own loops; a guard may limit it to the end of its domain.
    `loops`: the loops to consider, default all up to the enclosing block. True is definitive; False means unknown.
    """
    usable = {lp.var: lp for lp in (loops_above(block.op) if loops is None else loops)}
    bounds = {var: constant_bounds(lp.op) for var, lp in usable.items()}
    if block.where is None and fills_constant_domain(block.op, bounds):
        return True
    iters = block.iters
    cut = _guarded_iters(block, iters)
    if cut is None:
        return False
    if cut and fills_constant_domain(block.op, bounds, frozenset(cut)):
        return True
    bound_loops: set[ir.Value] = set()
    for number, it in enumerate(iters):
        if bound_loops & set(it.binding.values) or not _covers_domain(it, usable, number in cut):
            return False
        bound_loops |= set(it.binding.values)
    return True


def fills_constant_domain(
    op: ir.Operation, loops: Mapping[ir.Value, tuple[int, int] | None], cut: frozenset[int] = frozenset()
) -> bool:
    """`is_full_box` for constant bounds and domains, cached: it depends on attributes only, which are uniqued.

    `loops`: the `constant_bounds` of loops, by variable. `cut`: the iters that the guard limits to the end of their
    domains; without them nothing is guarded.
    """
    facts = op.attributes
    low = attrs.map_of(facts["lowerBoundsMap"])
    ranges = [loops.get(value) for value in list(op.operands)[: low.n_inputs]]
    if None in ranges:
        return False
    mins, extents = attrs.map_of(facts[attrs.MIN]), attrs.map_of(facts[attrs.EXTENT])
    return _maps_fill(low, tuple(ranges), mins, extents, cut)  # type: ignore[arg-type]


@lru_cache(maxsize=ENTRIES)
def _maps_fill(
    low: ir.AffineMap,
    ranges: tuple[tuple[int, int], ...],
    mins: ir.AffineMap,
    extents: ir.AffineMap,
    cut: frozenset[int],
) -> bool:
    if mins.n_symbols:
        return False
    split = in_digits(over_dims(low), ranges)
    if split is None:
        return False
    used_digits: set[int] = set()
    for number, (terms, start, extent) in enumerate(zip(split.sums, over_dims(mins), over_dims(extents), strict=False)):
        first, count = constant_of(start), constant_of(extent)
        if first is None or count is None or used_digits & set(terms.factors):
            return False
        used_digits |= set(terms.factors)
        digits = [(factor, split.digits[n].low, split.digits[n].high) for n, factor in terms.factors.items()]
        reach = span(digits, terms.constant)
        needed = max(reach.size or 0, count) if number in cut else count
        if not _is_increasing(terms) or not reach.fills(first, needed):
            return False
    return all(n in used_digits or digit.low == digit.high for n, digit in enumerate(split.digits))


def boxes_cover(boxes: BoxBounds, domain_: BoxBounds, loops: Sequence[Loop]) -> bool:
    """Whether the boxes [mins, mins + extents) of all iterations of some loops contain a constant box together.

    Only by digits, for loops with constant bounds: True is definitive; False means unknown.
    """
    bounds = {lp.var: ends for lp in loops if (ends := constant_bounds(lp.op)) is not None and ends[0] <= ends[1]}
    sums = index_sums(boxes[0], bounds)
    used_digits: set[int] = set()
    for total, extent, low, count in zip(sums or (), boxes[1], *domain_, strict=False):
        width, first, size = extent.as_constant(), low.as_constant(), count.as_constant()
        start = total.rest.as_constant()
        if width is None or first is None or size is None or start is None or used_digits & set(total.numbers):
            return False
        used_digits |= set(total.numbers)
        reach = span(total.digits, start, width)
        if not reach.dense or reach.low is None or reach.high is None or reach.low > first:
            return False
        if reach.high < first + size - 1:
            return False
    return sums is not None and len(bounds) == len(loops)


def _is_increasing(terms: DimFactors | DigitSum) -> bool:
    """Whether a sum is smallest at the start of all of its loops, where the init runs."""
    return all(factor > 0 for factor in terms.factors.values())


def _guarded_iters(block: Block, iters: Sequence[Iter]) -> set[int] | None:
    """The iters whose bindings the guard limits to the end of their domains; None if it has other conditions."""
    cut: set[int] = set()
    for condition in [] if block.where is None else constraints(block.where):
        ends = [n for n, it in enumerate(iters) if condition.index.is_equal_to(it.min + it.extent - 1 - it.binding)]
        if condition.is_eq or not ends:
            return None
        cut.add(ends[0])
    return cut


def _covers_domain(it: Iter, loops: Mapping[ir.Value, Loop], cut: bool) -> bool:
    """Whether a binding takes every value of its iter's domain once, and, unless `cut` by a guard, no other."""
    if (value := it.binding.is_value()) is not None and value in loops:
        loop = loops[value]
        plain = len(loop.lowers) == len(loop.uppers) == 1
        if plain and loop.lower.is_equal_to(it.min) and loop.upper.is_equal_to(it.min + it.extent):
            return True
    low, extent = it.min.as_constant(), it.extent.as_constant()
    binding = it.binding.simplify()
    reach, terms = index_span(binding, loops), dim_factors(binding.expr)
    if (
        low is None
        or extent is None
        or reach is None
        or reach.size is None
        or terms is None
        or not _is_increasing(terms)
    ):
        return False
    return reach.fills(low, max(reach.size, extent) if cut else extent)
