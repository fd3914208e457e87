"""Whether a write is of all elements that a read reads, by the digits of their loops: no isl.

for ax in range(200):                                    X_shared: h * 8 + [0, 10), at most 17
    where h * 8 + ax % 100 // 10 < 18:             ->
    X_shared[h * 8 + ax % 100 // 10] = ...
for i, r in T.grid(8, 3): ... X_shared[h * 8 + i + r]    X_shared: h * 8 + [0, 10), and at most 17 by the iters' domains
"""

from __future__ import annotations

from tir_mlir.dialect.analysis.accesses import Access
from tir_mlir.dialect.ir import Index, Loop, is_loop, parents
from tir_mlir.dialect.presburger import BoxSide, ValueRanges, enclosing_box, filled_box, intervals


def is_in_filled_box(write: Access, read: Access, depth: int) -> bool:
    """Whether a write fills a box that contains what a read reads, by digits and intervals; False means unknown."""
    if not (write.is_point and read.is_point) or write.parts or read.parts:
        return False
    outer = [Loop(p).var for p in parents(read.op)[::-1] if is_loop(p)][:depth]
    written, needed = filled_box(write.op, write.mins, outer), enclosing_box(read.op, read.mins, outer)
    if written is None or needed is None:
        return False
    ranges = intervals.enclosing_ranges(read.op)
    sides = zip(needed, written, read.mins, strict=True)
    return all(_is_in_side(inner, side, index, ranges) for inner, side, index in sides)


def _is_in_side(inner: BoxSide, side: BoxSide, index: Index, ranges: ValueRanges) -> bool:
    """Whether an index, which is in one side of a box, is in another one, in each iteration."""
    ends = intervals.interval(index, ranges)
    apart = intervals.interval((inner.rest - side.rest).simplify(), ranges)
    low, high = intervals.add_bounds(apart[0], inner.low), intervals.add_bounds(apart[1], inner.high)
    if side.rest.is_equal_to(0):
        low = max((b for b in (low, ends[0]) if b is not None), default=None)
        high = min((b for b in (high, ends[1]) if b is not None), default=None)
    if low is None or high is None or low < side.low or high > side.high:
        return False
    if side.least is not None and (ends[0] is None or ends[0] < side.least):
        return False
    return side.most is None or (ends[1] is not None and ends[1] <= side.most)
