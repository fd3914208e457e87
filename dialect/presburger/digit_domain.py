"""Iteration domains over the digits of fused and split loops instead of the loops: without divisions.

for f_0, f_1 in T.grid(2, 256):            for x, y, z in T.grid(4, 10, 10):
    where f_0 * 256 + f_1 < 400      ->
    S[f // 100, f % 100 // 10, f % 10]         S[x, y, z]        (f = f_0 * 256 + f_1)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import islpy as isl
from mlir import ir

from tir_mlir.dialect.ir import (
    Block,
    Constraint,
    Index,
    Loop,
    cache_while_frozen,
    constraints,
    is_block,
    is_loop,
    is_symbol,
    used_dims,
)
from tir_mlir.dialect.ir.op_views import AffineIfOp, FuncOp, isa
from tir_mlir.dialect.presburger.digits import DigitSum, Ends, InDigits, MixedRadixNumber, in_digits, is_range_of
from tir_mlir.dialect.presburger.intervals import constant_bounds, has_division
from tir_mlir.dialect.presburger.sets import Domain, dim_type, enclosing, local_space, nonneg, start, to_aff, zeros


@dataclass(eq=False)
class DigitDomain(Domain):
    """A domain of which the first dimensions are those of `domain`, others are digits. Only the expressions that it was
    made for have a value in it. `determined`: the loops and iters of which these are the values."""

    values: dict[Index, isl.Aff] = field(default_factory=dict)
    determined: frozenset[ir.Value] = frozenset()

    def aff(self, index: Index) -> isl.Aff:
        return self.zero.add_constant_val(isl.Val(c)) if (c := index.as_constant()) is not None else self.values[index]


def over_digits(
    op: ir.Operation, top: ir.Operation | None, indices: Sequence[Index], kept: int | Sequence[ir.Value] = 0
) -> DigitDomain | None:
    """The iterations of an op in `top` over at least the outermost `kept` dimensions of `domain`, and digits of others.

    `kept`: or exactly these loops and iters, which are the first dimensions then. None where no index divides, and
    where loops and divisors have no common digits (see `in_digits`).
    """
    nest = _nest(op.block, top, tuple(indices))
    if nest is None:
        return None
    if not isinstance(kept, int):
        return _with_digits(op.block, top, tuple(indices), tuple(kept)) if nest.least == 0 else None
    first = max(kept, nest.least)
    positions = [n for n, value in enumerate(nest.dims) if n >= first and value in nest.divided]
    return _with_digits(op.block, top, tuple(indices), tuple(nest.dims[: positions[0]])) if positions else None


@cache_while_frozen
def _nest(body: ir.Block, top: ir.Operation | None, indices: tuple[Index, ...]) -> IterationNest | None:
    nest = IterationNest.from_block(body, top, indices)
    if nest is None or any(ends is not None and ends[0] > ends[1] for ends in nest.ranges.values()):
        return None
    for count in range(len(nest.dims)):
        split = DigitSplit(nest, [v for n, v in enumerate(nest.dims) if n < count or nest.ranges.get(v) is None])
        if split.parts is not None:
            nest.least, nest.divided, nest.sums = count, split.digit_dims, split.sums_of_dims
            return nest
    return None


@dataclass
class IterationNest:
    """What bounds an iteration: loops and iters of `top` with their ranges (None: not constant), and conditions, over
    these and values defined outside. With the outermost `least` dimensions as they are, the others have digits, which
    expressions use of those in `divided`; `sums`: dimensions that are one number."""

    dims: list[ir.Value]
    ranges: dict[ir.Value, Ends | None]
    bounds: dict[ir.Value, list[Index]]
    conditions: list[Constraint]
    indices: list[Index]
    least: int = 0
    divided: set[ir.Value] = field(default_factory=set)
    sums: list[list[ir.Value]] = field(default_factory=list)

    @staticmethod
    def from_block(body: ir.Block, top: ir.Operation | None, indices: Sequence[Index]) -> IterationNest | None:
        """None if no index or condition divides, or for a condition that is not a conjunction of affine ones."""
        bound: dict[ir.Value, Index] = {}
        loops: list[Loop] = []
        conditions: list[Constraint] = []
        chain = enclosing(body, top)
        for number, parent in enumerate(chain):
            if is_loop(parent):
                loops.append(Loop(parent))
            elif is_block(parent):
                bindings = Block(parent).bindings or [Index.constant(0)]
                variables = parent.regions[0].blocks[0].arguments
                bound |= {v: b.substitute(bound) for v, b in zip(variables, bindings, strict=True)}
            elif isa(parent, AffineIfOp):
                inner = chain[number + 1].block if number + 1 < len(chain) else body
                if inner != parent.regions[0].blocks[0]:
                    return None
                conditions += [Constraint(c.index.substitute(bound), c.is_eq) for c in constraints(parent)]
            elif not isa(parent, FuncOp):
                return None
        resolved = [i.substitute(bound).simplify() for i in indices]
        if not any(has_division(i.expr) for i in (*resolved, *(c.index for c in conditions))):
            return None
        return IterationNest._with_bounds(loops, top, bound, conditions, resolved)

    @staticmethod
    def _with_bounds(
        loops: Sequence[Loop],
        top: ir.Operation | None,
        bound: dict[ir.Value, Index],
        conditions: list[Constraint],
        indices: list[Index],
    ) -> IterationNest:
        iters = Block(top).iters if top is not None and is_block(top) else []
        ranges: dict[ir.Value, Ends | None] = dict.fromkeys(it.var for it in iters)
        bounds = {it.var: _range_conditions(it.var, [it.min], [it.min + it.extent]) for it in iters}
        for loop in loops:
            ranges[loop.var] = constant_bounds(loop.op)
            bounds[loop.var] = [i.substitute(bound) for i in _range_conditions(loop.var, loop.lowers, loop.uppers)]
        expressions = [*indices, *(c.index for c in conditions), *(i for part in bounds.values() for i in part)]
        free = dict.fromkeys(v for i in expressions for v in i.values if v not in ranges and not is_symbol(v))
        return IterationNest([*free, *ranges], ranges, bounds, conditions, indices)

    def is_fixed(self, value: ir.Value) -> bool:
        """Whether a dimension has one value only."""
        ends = self.ranges.get(value)
        return ends is not None and ends[0] == ends[1]

    def expressions(self, opaque: Sequence[ir.Value]) -> Iterator[Index]:
        """The indices, the conditions, and the bounds of opaque dimensions that are not constant."""
        yield from self.indices
        yield from (c.index for c in self.conditions)
        for value in opaque:
            if self.ranges.get(value) is None:
                yield from self.bounds.get(value, [])


def _range_conditions(var: ir.Value, lows: Sequence[Index], highs: Sequence[Index]) -> list[Index]:
    """What is not negative where a variable is in its range."""
    return [*(Index.from_value(var) - low for low in lows), *(high - Index.from_value(var) - 1 for high in highs)]


class DigitSplit:
    """The expressions of a nest as sums of digits; `opaque`: the dimensions that remain as they are."""

    def __init__(self, nest: IterationNest, opaque: Sequence[ir.Value]):
        indices = [i.simplify() for i in nest.expressions(opaque)]
        self.values = list(dict.fromkeys(v for i in indices for v in i.values))
        dim_of = {v: ir.AffineExpr.get_dim(n) for n, v in enumerate(self.values)}
        over = [ir.AffineMap.get(len(self.values), 0, [dim_of[v] for v in i.values]) for i in indices]
        exprs = tuple(i.expr.compose(map_) for i, map_ in zip(indices, over, strict=True))
        self.first = len(nest.indices)
        is_eq = [*[False] * self.first, *(c.is_eq for c in nest.conditions)]
        self.is_eq = [*is_eq, *[False] * (len(exprs) - len(is_eq))]
        guards = tuple(e for e, equal in list(zip(exprs, self.is_eq, strict=True))[self.first :] if not equal)
        self.ranges = tuple(None if v in opaque and not nest.is_fixed(v) else nest.ranges.get(v) for v in self.values)
        self.parts: InDigits | None = in_digits(exprs, self.ranges, guards)
        self.exprs = exprs

    @property
    def digit_dims(self) -> set[ir.Value]:
        """The dimensions of which expressions use digits."""
        if self.parts is None:
            return set()
        parts, counts = self.parts, Counter(d.number for d in self.parts.digits)
        numbers = [n for position, n in enumerate(parts.numbers) if n.is_sum or counts[position] > 1]
        return {self.values[d] for number in numbers for d in number.weights}

    @property
    def sums_of_dims(self) -> list[list[ir.Value]]:
        """The dimensions of each number that is a sum of several."""
        numbers: Sequence[MixedRadixNumber] = () if self.parts is None else self.parts.numbers
        return [[self.values[d] for d in n.weights] for n in numbers if n.is_sum]


@cache_while_frozen
def _with_digits(
    body: ir.Block, top: ir.Operation | None, indices: tuple[Index, ...], outer: tuple[ir.Value, ...]
) -> DigitDomain | None:
    nest = _nest(body, top, indices)
    assert nest is not None
    fixed = [v for v in nest.dims if nest.ranges.get(v) is None]
    mixed = [v for members in nest.sums if any(v in outer for v in members) for v in members]
    opaque = [v for v in dict.fromkeys([*outer, *fixed]) if v not in mixed]
    split = DigitSplit(nest, opaque)
    if split.parts is None:
        return None
    space = _Space(body.owner.operation, list(dict.fromkeys([*outer, *opaque, *mixed])), split.parts, split.values)
    if not all(v in space.env for total in split.parts.sums for v in space.opaque(total)):
        return None
    affs = [space.aff(total) for total in split.parts.sums]
    points = space.points
    for expr, aff, is_eq in list(zip(split.exprs, affs, split.is_eq, strict=True))[split.first :]:
        if is_eq or not is_range_of(expr, split.ranges, split.parts.numbers):
            points = points.intersect(zeros(aff) if is_eq else nonneg(aff))
    points = space.constrain(points, nest.ranges, mixed)
    values = dict(zip(indices, affs, strict=False))
    in_numbers = [split.values[d] for number in split.parts.numbers for d in number.weights]
    determined = frozenset([*space.dims, *in_numbers])
    return DigitDomain(space.dims, space.params, points, space.env, space.zero, values=values, determined=determined)


class _Space:
    """Dimensions, and digits after them."""

    def __init__(self, op: ir.Operation, dims: list[ir.Value], parts: InDigits, values: Sequence[ir.Value]):
        base = start(op, dims)
        count, digit_count = len(dims), len(parts.digits)
        self.dims, self.params, self.parts, self.values = dims, base.params, parts, values
        self.env = {v: aff.insert_dims(dim_type.in_, count, digit_count) for v, aff in base.env.items()}
        local = local_space(count + digit_count, base.params)
        self.zero = isl.Aff.zero_on_domain(local)
        self.digits = [isl.Aff.var_on_domain(local, dim_type.set, count + n) for n in range(digit_count)]
        self.points = base.set.insert_dims(dim_type.set, count, digit_count)
        for number, digit in enumerate(parts.digits, count):
            self.points = self.points.lower_bound_val(dim_type.set, number, isl.Val(digit.low))
            self.points = self.points.upper_bound_val(dim_type.set, number, isl.Val(digit.high))

    def opaque(self, total: DigitSum) -> list[ir.Value]:
        """The values that a sum uses as they are."""
        return [] if total.rest is None else [self.values[d] for d in used_dims(total.rest)]

    def aff(self, total: DigitSum) -> isl.Aff:
        result = self.zero.add_constant_val(isl.Val(total.constant))
        for number, factor in total.factors.items():
            result = result.add(self.digits[number].scale_val(isl.Val(factor)))
        dims = [self.env.get(v, self.zero) for v in self.values]
        return result if total.rest is None else result.add(to_aff(total.rest, dims, self.zero))

    def constrain(self, points: isl.Set, ranges: Mapping[ir.Value, Ends | None], mixed: Sequence[ir.Value]) -> isl.Set:
        """Add the constant ranges of the dimensions, and what the digits of those in `mixed` are."""
        for position, value in enumerate(self.dims):
            if (ends := ranges.get(value)) is not None:
                points = points.lower_bound_val(dim_type.set, position, isl.Val(ends[0]))
                points = points.upper_bound_val(dim_type.set, position, isl.Val(ends[1]))
        for position, number in enumerate(self.parts.numbers):
            if number.is_sum and self.values[next(iter(number.weights))] in mixed:
                difference = self.zero
                for dim, weight in number.weights.items():
                    difference = difference.add(self.env[self.values[dim]].scale_val(isl.Val(weight)))
                for aff, digit in zip(self.digits, self.parts.digits, strict=True):
                    if digit.number == position:
                        difference = difference.sub(aff.scale_val(isl.Val(digit.weight)))
                points = points.intersect(zeros(difference))
        return points
