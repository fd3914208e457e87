"""Conditions under which a tile is full: guards and bounds as functions of the outer loops."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mlir import ir

from tir_mlir.dialect.ir import Index, Loop, is_loop, owner_op, walk
from tir_mlir.dialect.presburger import dim_factors, intervals
from tir_mlir.passes.lower.loops.hoist_guards import is_plain_if

FAST_KINDS = ("vectorized", "unrolled")


@dataclass(frozen=True)
class TileCondition:
    """Of a vectorized or unrolled loop, or a guard near one: full where `index >= 0`, non-empty where `runs >= 0`.
    `box` has the ranges of the variables.
    """

    op: ir.Operation
    index: Index
    runs: Index
    box: intervals.ValueRanges


def tile_conditions(loop: Loop) -> Iterator[TileCondition]:
    """The conditions under a loop, over its variable, that decide whether a tile is full."""
    for op in walk.ops(loop.op)[1:]:
        conditions: list[tuple[Index, Index]] = []
        if is_loop(op) and Loop(op).kind in FAST_KINDS:
            conditions = _loop_conditions(Loop(op))
        elif is_plain_if(op) and _near_fast(op, loop):
            conditions = [(c.index, c.index) for c in walk.constraints(op) if not c.is_eq]
        if any(loop.var in index.values for index, _ in conditions):
            box = intervals.enclosing_ranges(op)
            for index, runs in conditions:
                if loop.var in index.values:
                    yield TileCondition(op, index.simplify(), runs.simplify(), box)


def _loop_conditions(inner: Loop) -> list[tuple[Index, Index]]:
    """Expressions that are at least 0 where a loop has its constant bound, or, if it has none, where it runs at all."""
    constant = next((u for u in inner.uppers if u.as_constant() is not None), None)
    runs = [u - inner.lower - 1 for u in inner.uppers]
    if constant is None:
        return [(r, r) for r in runs]
    return [(u - constant, r) for u, r in zip(inner.uppers, runs, strict=True) if u is not constant]


def _near_fast(op: ir.Operation, loop: Loop) -> bool:
    """Whether a vectorized or unrolled loop is under a guard, or around it inside the loop."""
    enclosing = walk.parents(op)
    between = enclosing[: enclosing.index(loop.op)]
    return any(is_loop(o) and Loop(o).kind in FAST_KINDS for o in [*between, *walk.ops(op)])


Point = dict[ir.Value, int]


def partial_point(loop: Loop, condition: TileCondition) -> Point | None:
    """The only point of a loop and its parents with a partial, non-empty tile; None if there are several or none, or if
    it cannot be determined.
    """
    index, runs, box = condition.index, condition.runs, condition.box
    linear, gap = dim_factors(index.expr), (runs - index).simplify().as_constant()
    if linear is None or gap is None:
        return None
    least, width = linear[1], gap
    axes: list[tuple[int, int, int, ir.Value]] = []
    for number, value in enumerate(index.values):
        factor, (low, high) = linear[0].get(number, 0), box.get(value, (None, None))
        if not factor or low is None or high is None:
            return None
        if value != loop.var and walk.is_inside(owner_op(value), loop.op):
            least += min(factor * low, factor * high)
            width += abs(factor) * (high - low)
        else:
            axes.append((factor, low, high, value))
    if len(axes) < 2:
        return None
    points = _points(sorted(axes, key=lambda a: -abs(a[0])), least + width, width)
    first = next(points, None)
    return first if first is not None and next(points, None) is None else None


def _points(axes: Sequence[tuple[int, int, int, ir.Value]], most: int, width: int) -> Iterator[Point]:
    """The points at which a sum over axes (factor, minimum, maximum) and `most` is in [0, width)."""
    if not axes:
        if 0 <= most < width:
            yield {}
        return
    (factor, low, high, value), *inner_axes = axes
    span = [sum(f(a * x, a * y) for a, x, y, _ in inner_axes) for f in (min, max)]
    for number in _reachable(factor, low, high, most, width, span):
        for point in _points(inner_axes, most + factor * number, width):
            yield {value: number, **point}


def _reachable(factor: int, low: int, high: int, most: int, width: int, span: Sequence[int]) -> range:
    """The values of an axis for which the remaining axes can still reach [0, width)."""
    first, last = -most - span[1], width - 1 - most - span[0]  # of factor * value
    if factor < 0:
        first, last, factor = -last, -first, -factor
    return range(max(low, -(-first // factor)), min(high, last // factor) + 1)
