"""Boxes of elements that nested loops access, by their digits: no isl.

for f_0, f_1 in T.grid(2, 256):
    where f_0 * 256 + f_1 < 400 and h * 8 + f % 100 // 10 < 18      ->     h * 8 + [0, 10), at most 17
    S[h * 8 + f % 100 // 10]         (f = f_0 * 256 + f_1)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from mlir import ir

from tir_mlir.dialect.ir import Index, trim
from tir_mlir.dialect.presburger.digit_domain import DigitSplit, IterationNest
from tir_mlir.dialect.presburger.digits import DigitSum, is_range_of
from tir_mlir.dialect.presburger.full_box import span
from tir_mlir.dialect.presburger.intervals import ValueRanges, interval


@dataclass(frozen=True)
class BoxSide:
    """One dimension of a box: `rest`, of outer values, plus each of [low, high]; of these only what conditions leave in
    [least, most] (None: no such condition)."""

    rest: Index
    low: int
    high: int
    least: int | None = None
    most: int | None = None


def enclosing_box(op: ir.Operation, indices: Sequence[Index], outer: Sequence[ir.Value]) -> list[BoxSide] | None:
    """A box around the elements that an op accesses in one iteration of the outermost loops `outer`, by digits only."""
    split = _split(op, indices, outer)
    return None if split is None else _sides(split, outer)


def filled_box(op: ir.Operation, indices: Sequence[Index], outer: Sequence[ir.Value]) -> list[BoxSide] | None:
    """The box of which an op accesses all elements in one iteration of the outermost loops `outer`, by digits only."""
    split = _split(op, indices, outer)
    sides = None if split is None or split.parts is None else _sides(split, outer, full=True)
    if split is None or split.parts is None or sides is None:
        return None
    for expr, condition, is_eq in list(zip(split.exprs, split.parts.sums, split.is_eq, strict=True))[split.first :]:
        if is_eq:
            return None
        if is_range_of(expr, split.ranges, split.parts.numbers):
            continue
        limited = [
            _tighten_side(side, condition, total, split) for side, total in zip(sides, split.parts.sums, strict=False)
        ]
        position = next((n for n, side in enumerate(limited) if side is not None), None)
        if position is None:
            return None
        sides[position] = limited[position] or sides[position]
    return sides


def all_run_at_first(op: ir.Operation, indices: Sequence[Index], outer: Sequence[ir.Value]) -> bool:
    """Whether no condition excludes an iteration of the inner loops in the first one of the outermost loops `outer`;
    False means unknown."""
    nest = IterationNest.from_block(op.block, None, indices)
    if nest is None:
        return False
    starts = {v: Index.constant(ends[0]) for v, ends in nest.ranges.items() if v in outer and ends is not None}
    ranges: ValueRanges = {v: ends or (None, None) for v, ends in nest.ranges.items()}
    first = [interval(c.index.substitute(starts).simplify(), ranges) for c in nest.conditions if not c.is_eq]
    return len(first) == len(nest.conditions) and all(low is not None and low >= 0 for low, _ in first)


def _split(op: ir.Operation, indices: Sequence[Index], outer: Sequence[ir.Value]) -> DigitSplit | None:
    """Indices and conditions as sums of digits of the inner loops, which all have constant bounds."""
    nest = IterationNest.from_block(op.block, None, indices)
    if nest is None or any(ends is not None and ends[0] > ends[1] for ends in nest.ranges.values()):
        return None
    if any(ends is None for value, ends in nest.ranges.items() if value not in outer):
        return None
    split = DigitSplit(nest, outer)
    return None if split.parts is None else split


def _sides(split: DigitSplit, outer: Sequence[ir.Value], full: bool = False) -> list[BoxSide] | None:
    """The ends of each index. `full`: None if an inner value has a gap, or depends on that of another dimension."""
    assert split.parts is not None
    sides: list[BoxSide] = []
    numbers_used: set[int] = set()
    for total in split.parts.sums[: split.first]:
        digits = [split.parts.digits[n] for n in total.factors]
        reach = span([(f, d.low, d.high) for f, d in zip(total.factors.values(), digits, strict=True)], total.constant)
        if reach.low is None or reach.high is None or (full and (not reach.dense or numbers_used & set(total.factors))):
            return None
        numbers_used |= set(total.factors)
        constant_part = Index.constant(0) if total.rest is None else trim(total.rest, split.values)
        if any(v not in outer for v in constant_part.values):
            return None
        sides.append(BoxSide(constant_part, reach.low, reach.high))
    return sides


def _tighten_side(side: BoxSide, condition: DigitSum, total: DigitSum, split: DigitSplit) -> BoxSide | None:
    """The side with a condition `most - index >= 0` or `index - least >= 0`; None if the condition is not one."""
    constant_part = Index.constant(0) if condition.rest is None else trim(condition.rest, split.values)
    if dict(condition.factors) == {n: -f for n, f in total.factors.items()}:
        apart = (constant_part + side.rest).simplify().as_constant()
        if apart is not None:
            most = apart + condition.constant + total.constant
            return replace(side, most=most if side.most is None else min(most, side.most))
    if dict(condition.factors) == dict(total.factors):
        apart = (side.rest - constant_part).simplify().as_constant()
        if apart is not None:
            least = apart + total.constant - condition.constant
            return replace(side, least=least if side.least is None else max(least, side.least))
    return None
