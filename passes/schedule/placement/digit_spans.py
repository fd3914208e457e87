"""Spans of iters under a loop by digits, not by isl: what consumers need where guards cut it, what a consumer fills."""

from __future__ import annotations

from collections.abc import Sequence

from mlir import ir

from tir_mlir.dialect.analysis.accesses import Access, access_domain, accesses_to
from tir_mlir.dialect.ir import Block, Buffer, Index, Iter, Loop, func_of, is_loop, parents
from tir_mlir.dialect.presburger import (
    BoxSide,
    ValueRanges,
    all_run_at_first,
    boxes_cover,
    enclosing_box,
    filled_box,
    intervals,
    sets,
)
from tir_mlir.passes.schedule.legality.stable_inputs import shared_loops
from tir_mlir.passes.schedule.placement.needed_region import IterSpan, leaves_domain


def filled_spans(block: Block, loop: Loop, inputs: Sequence[ir.Value], iters: Sequence[Iter]) -> list[IterSpan] | None:
    """The spans of which one write fills all elements under a loop, if all iterations of the block run in them.

    For a block that reads its only input at its iters, outside of all loops around the writes. None means unknown.
    """
    if len(inputs) != 1 or Buffer(inputs[0]).is_param or shared_loops(block.op, loop.op, func_of(block.op)):
        return None
    reads = accesses_to(inputs[0], block.op, False)
    values = [index.is_value() for index in reads[0].mins]
    if len({r.mins for r in reads}) != 1 or not all(r.is_point and not r.parts for r in reads):
        return None
    if len(set(values)) != len(values) or {i.var for i in iters} != set(values):
        return None
    sides = _filled_sides(accesses_to(inputs[0], loop.op, True), loop)
    if sides is None:
        return None
    ranges = intervals.body_ranges(loop.op)
    spans = [_filled_span(it, sides[values.index(it.var)], ranges) for it in iters]
    known_spans = [s for s in spans if s is not None]
    return known_spans if len(known_spans) == len(spans) and run_everything(loop, known_spans) else None


def _filled_sides(writes: Sequence[Access], loop: Loop) -> list[BoxSide] | None:
    outer = [Loop(p).var for p in [*parents(loop.op)[::-1], loop.op] if is_loop(p)]
    certain = [w for w in writes if w.is_point and w.exact and not w.parts and access_domain(w).exact]
    return next((box for w in certain if (box := filled_box(w.op, w.mins, outer)) is not None), None)


def _filled_span(it: Iter, side: BoxSide, ranges: ValueRanges) -> IterSpan | None:
    """A side as the range of an iter; None if its conditions exclude values in the iter's domain."""
    first, size = it.min.as_constant(), it.extent.as_constant()
    if first is None or size is None:
        return None
    if (side.least is not None and side.least > first) or (side.most is not None and side.most < first + size - 1):
        return None
    low, extent = (side.rest + side.low).simplify(), Index.constant(side.high - side.low + 1)
    return IterSpan(it, low, extent, not intervals.is_in_range(low, extent, it.min, it.extent, ranges))


def run_everything(loop: Loop, spans: Sequence[IterSpan]) -> bool:
    """Whether spans under a loop run each point of the iters' domains; by digits only, False means unknown."""
    chain = [loop.op, *parents(loop.op)]
    if not all(is_loop(op) for op in chain[:-1]):
        return False
    run = [s.low for s in spans], [s.extent for s in spans]
    domains = [s.iter.min for s in spans], [s.iter.extent for s in spans]
    return boxes_cover(run, domains, [Loop(op) for op in chain[:-1]])


# What consumers need of a block under a loop, where guards cut what they read at some ends only, by digits: no isl.
#
# for b in range(4):                                      C under b: b // 2 * 8 + [0, 10) and b % 2 * 8 + [0, 10),
#     for i, j, r, q in T.grid(8, 8, 3, 3):         ->    guarded by the domain of C
#         where b // 2 * 8 + i < 14 and b % 2 * 8 + j < 14
#         ... = C[b // 2 * 8 + i + r, b % 2 * 8 + j + q]


def enclosed_spans(
    reads: Sequence[Access], stores: Sequence[Access], loop: Loop, iters: Sequence[Iter], free: Sequence[ir.Value]
) -> list[IterSpan] | None:
    """The box around what is read under a loop, of a block that stores at its iters.

    In the first iteration of the loops around all of it is read, so that no smaller box of a constant size would do.
    `free`: variables of loops whose iterations share the box. None means unknown.
    """
    if not reads or not stores or not all(a.is_point and a.exact and not a.parts for a in (*reads, *stores)):
        return None
    values = [index.is_value() for index in stores[0].mins]
    if len({s.mins for s in stores}) != 1 or len(set(values)) != len(values) or {i.var for i in iters} != set(values):
        return None
    outer_variables = [Loop(p).var for p in [*parents(loop.op)[::-1], loop.op] if is_loop(p)]
    box = _hull(reads, [v for v in outer_variables if v not in free])
    return None if box is None else [_needed_span(it, box[values.index(it.var)], loop) for it in iters]


def _hull(reads: Sequence[Access], outer: Sequence[ir.Value]) -> list[BoxSide] | None:
    """The box around all reads; None unless one read is of all of it in the first iteration."""
    boxes = [enclosing_box(r.op, r.mins, outer) for r in reads]
    known_boxes = [b for b in boxes if b is not None]
    if len(known_boxes) < len(boxes):
        return None
    hull: list[BoxSide] = []
    for column in zip(*known_boxes, strict=True):
        if not all(side.rest.is_equal_to(column[0].rest) for side in column):
            return None
        hull.append(BoxSide(column[0].rest, min(s.low for s in column), max(s.high for s in column)))
    ends = [(side.low, side.high) for side in hull]
    widest_reads = [
        r for r, box in zip(reads, known_boxes, strict=True) if [(side.low, side.high) for side in box] == ends
    ]
    return hull if any(all_run_at_first(r.op, r.mins, outer) for r in widest_reads) else None


def _needed_span(it: Iter, side: BoxSide, loop: Loop) -> IterSpan:
    low, extent = (side.rest + side.low).simplify(), Index.constant(side.high - side.low + 1)
    if intervals.is_in_range(low, extent, it.min, it.extent, intervals.body_ranges(loop.op)):
        return IterSpan(it, low, extent, False)
    return IterSpan(it, low, extent, leaves_domain((low, extent), it, sets.domain(loop.body.operations[0].operation)))
