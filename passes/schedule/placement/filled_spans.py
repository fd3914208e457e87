"""What a consumer can compute under a loop, where one write fills a box of its input, by digits: no isl.

for b in range(4):                                          C under b: b // 2 * 8 + [0, 8) and b % 2 * 8 + [0, 8),
    for i, j in T.grid(8, 8):                     ->        guarded by the domain of C
        where b // 2 * 8 + i < 14 and b % 2 * 8 + j < 14
        P[b // 2 * 8 + i, b % 2 * 8 + j] = ...
for i, j in T.grid(14, 14): C[i, j] = P[i, j]
"""

from __future__ import annotations

from collections.abc import Sequence

from mlir import ir

from tir_mlir.dialect.analysis.accesses import Access, access_domain, accesses_to
from tir_mlir.dialect.ir import Block, Buffer, Index, Iter, Loop, func_of, is_loop, parents
from tir_mlir.dialect.presburger import BoxSide, ValueRanges, boxes_cover, filled_box, intervals
from tir_mlir.passes.schedule.legality.stable_inputs import shared_loops
from tir_mlir.passes.schedule.placement.needed_region import IterSpan


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
    spans = [_span(it, sides[values.index(it.var)], ranges) for it in iters]
    known_spans = [s for s in spans if s is not None]
    return known_spans if len(known_spans) == len(spans) and run_everything(loop, known_spans) else None


def _filled_sides(writes: Sequence[Access], loop: Loop) -> list[BoxSide] | None:
    outer = [Loop(p).var for p in [*parents(loop.op)[::-1], loop.op] if is_loop(p)]
    certain = [w for w in writes if w.is_point and w.exact and not w.parts and access_domain(w).exact]
    return next((box for w in certain if (box := filled_box(w.op, w.mins, outer)) is not None), None)


def _span(it: Iter, side: BoxSide, ranges: ValueRanges) -> IterSpan | None:
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
