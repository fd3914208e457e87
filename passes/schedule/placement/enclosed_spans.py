"""What consumers need of a block under a loop, where guards cut what they read at some ends only, by digits: no isl.

for b in range(4):                                      C under b: b // 2 * 8 + [0, 10) and b % 2 * 8 + [0, 10),
    for i, j, r, q in T.grid(8, 8, 3, 3):         ->    guarded by the domain of C
        where b // 2 * 8 + i < 14 and b % 2 * 8 + j < 14
        ... = C[b // 2 * 8 + i + r, b % 2 * 8 + j + q]
"""

from __future__ import annotations

from collections.abc import Sequence

from mlir import ir

from tir_mlir.dialect.analysis.accesses import Access
from tir_mlir.dialect.ir import Index, Iter, Loop, is_loop, parents
from tir_mlir.dialect.presburger import BoxSide, all_run_at_first, enclosing_box, intervals, sets
from tir_mlir.passes.schedule.placement.needed_region import IterSpan, leaves_domain


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
    return None if box is None else [_span(it, box[values.index(it.var)], loop) for it in iters]


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


def _span(it: Iter, side: BoxSide, loop: Loop) -> IterSpan:
    low, extent = (side.rest + side.low).simplify(), Index.constant(side.high - side.low + 1)
    if intervals.is_in_range(low, extent, it.min, it.extent, intervals.body_ranges(loop.op)):
        return IterSpan(it, low, extent, False)
    return IterSpan(it, low, extent, leaves_domain((low, extent), it, sets.domain(loop.body.operations[0].operation)))
