"""Groups of asynchronous copies, numbered in the order in which they end, and how many may be pending where."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import islpy as isl
from mlir import ir

from tir_mlir.dialect.diagnostics import NotProvable
from tir_mlir.dialect.ir import Loop, is_loop, walk
from tir_mlir.dialect.ir.lowering_op_views import BarrierOp
from tir_mlir.dialect.ir.op_views import isa
from tir_mlir.dialect.presburger import dim_type
from tir_mlir.passes.lower.gpu.conflicts import SharedAccess
from tir_mlir.passes.lower.gpu.pipelines.meetings import Meetings, in_order, least_value


@dataclass(frozen=True)
class Segment:
    """Ops of the body that the loop of a pipeline is in: a loop, of which each iteration ends groups, or ops that are
    one. base: the groups before. ends: the ops after which a group ends, in order."""

    ops: tuple[ir.Operation, ...]
    loop: Loop | None
    base: int
    ends: tuple[ir.Operation, ...]

    def groups_before(self, op: ir.Operation) -> int:
        """The groups that end before an op of the body, in one iteration."""
        return sum(walk.position_of_many(end) < walk.position_of_many(op) for end in self.ends)


@dataclass(frozen=True)
class CopyTimeline:
    """The groups of a loop, the last one of the segments, and of what is before it."""

    meetings: Meetings
    segments: tuple[Segment, ...]
    first_wait: tuple[ir.Operation, int]
    """What the last wait before the loop is in front of, a barrier or the loop, and the groups that end before."""

    @property
    def main(self) -> Segment:
        return self.segments[-1]

    @property
    def ends(self) -> list[ir.Operation]:
        return [end for segment in self.segments for end in segment.ends]

    def pending(self, copy: SharedAccess, touch: SharedAccess) -> Iterator[tuple[ir.Operation, int]]:
        """Ops in front of which threads have to wait so that a copy is complete before an access in the loop, and how
        many groups may then be pending. Raises NotProvable where no wait is early enough."""
        main, loop = self.main, Loop(self.meetings.loop)
        segment, pairs = self._pairs(copy, touch)
        each, number = len(segment.ends) if segment.loop else 0, self._number(copy, segment)
        barriers = [op for op in loop.body_ops() if isa(op, BarrierOp)]
        place = walk.position_of_many(walk.child_towards(loop.op, touch.access.op))
        before = [b for b in barriers if walk.position_of_many(b) < place]
        first = loop.lower.as_constant()
        if first is None:
            raise NotProvable("it is not known how many groups come before an iteration")
        parts = [(pairs, before[-1], main.groups_before(before[-1]), 0)] if before else []
        if not before:
            later = pairs.lower_bound_val(dim_type.out, 0, isl.Val(first + 1))
            if barriers:
                parts.append((later, barriers[-1], main.groups_before(barriers[-1]), 1))
            elif not later.is_empty():
                raise NotProvable("no barrier is before a read")
        for part, op, ended, back in parts:
            least = least_value(part, -each, len(main.ends))
            if least is not None:
                yield op, main.base + ended + least - len(main.ends) * (back + first) - number - 1
        least = None if before else least_value(pairs.fix_val(dim_type.out, 0, isl.Val(first)), -each, 0)
        if least is not None:
            op, ended = self.first_wait
            yield op, ended + least - number - 1

    def _pairs(self, copy: SharedAccess, touch: SharedAccess) -> tuple[Segment, isl.Map]:
        """The segment of a copy, and { iteration of it -> iteration of the loop } of an access after it."""
        segment = next(s for s in self.segments if any(walk.is_inside(copy.access.op, op) for op in s.ops))
        pairs = self.meetings.pairs(copy, segment.loop, touch)
        return segment, in_order(pairs, int(copy is touch)) if segment is self.main else pairs

    def _number(self, copy: SharedAccess, segment: Segment) -> int:
        """The number of the group of a copy in iteration 0 of its segment."""
        if segment.loop is None:
            return segment.base
        start = segment.loop.lower.as_constant()
        if start is None:
            raise NotProvable("it is not known how many groups come before an iteration")
        ended = segment.groups_before(walk.child_towards(segment.loop.op, copy.access.op))
        return segment.base + ended - start * len(segment.ends)


def make_timeline(
    meetings: Meetings, stores: Sequence[SharedAccess], loads: Sequence[SharedAccess], lags: Mapping[ir.Value, int]
) -> CopyTimeline:
    """The groups of a loop and of the ops before it. lags: how many iterations later what a buffer gets is read.

    In a loop, copies beside each other with one lag are a group; before it, those between two barriers are, and those
    of each iteration of a loop that copies for another iteration each time. Raises NotProvable where it is not known
    how many groups there are.
    """
    main = meetings.loop
    segments: list[Segment] = []
    group: list[ir.Operation] = []
    base, wait = 0, None
    for op in [*_ops_before(main), main]:
        here = [s for s in stores if walk.is_inside(s.access.op, op)]
        is_loop_of_groups = op == main or (bool(here) and _is_prologue(meetings, op, here, loads))
        if group and (is_loop_of_groups or isa(op, BarrierOp)):
            segments.append(Segment(tuple(group), None, base, (group[-1],)))
            base, group = base + 1, []
        if isa(op, BarrierOp):
            wait = op, base
        elif is_loop_of_groups:
            segments.append(Segment((op,), Loop(op), base, tuple(_ends(Loop(op), here, lags))))
            base += len(segments[-1].ends) * (Loop(op).const_extent or 0)
        elif here:
            group.append(op)
    return CopyTimeline(meetings, tuple(segments), wait or (main, segments[-1].base))


def _ops_before(op: ir.Operation) -> list[ir.Operation]:
    return [o.operation for o in list(op.block.operations)[: walk.position_of_many(op)]]


def _is_prologue(
    meetings: Meetings, op: ir.Operation, stores: Sequence[SharedAccess], loads: Sequence[SharedAccess]
) -> bool:
    """Whether each iteration of an op copies what other iterations of the loop read."""
    if not is_loop(op) or Loop(op).kind != "serial" or Loop(op).const_extent in (None, 0, 1):
        return False
    pairs = [(s, t) for s in stores for t in loads if t.access.buffer == s.access.buffer]
    return all(meetings.pairs(s, Loop(op), t).reverse().is_single_valued() for s, t in pairs)


def _ends(loop: Loop, stores: Sequence[SharedAccess], lags: Mapping[ir.Value, int]) -> Iterator[ir.Operation]:
    """The last op of each run of copies with one lag."""
    tops: dict[ir.Operation, int] = {}
    for store in stores:
        tops[walk.child_towards(loop.op, store.access.op)] = lags[store.access.buffer]
    runs = [(op, tops[op]) for op in loop.body_ops() if op in tops]
    for number, (op, lag) in enumerate(runs):
        if number + 1 == len(runs) or runs[number + 1][1] != lag:
            yield op
