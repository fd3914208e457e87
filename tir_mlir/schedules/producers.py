"""The transitive producers of a block, and how their iters correspond to its own."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field

from tir_mlir.dialect.diagnostics import ScheduleError
from tir_mlir.schedule import BlockHandle, Schedule
from tir_mlir.schedule.info import BlockInfo
from tir_mlir.schedules.block_queries import block_info, iters


@dataclass
class Member:
    """A block.

    along: the iter of the last block that each of its iters corresponds to.
    readers: its consumers.
    """

    block: BlockHandle
    info: BlockInfo
    along: dict[str, str] = field(default_factory=dict)
    readers: int = 0

    @property
    def reduces(self) -> bool:
        return bool(iters(self.info, "R"))

    def own_iters(self, axes: list[str]) -> list[str] | None:
        """Its iters that correspond to these axes of the last block; None unless each has exactly one."""
        iters_by_axis = [[name for name, axis in self.along.items() if axis == a] for a in axes]
        return [names[0] for names in iters_by_axis] if all(len(names) == 1 for names in iters_by_axis) else None


def with_producers(sch: Schedule, block: BlockHandle, fixed: Collection[str] = ()) -> list[Member]:
    """A block and its transitive producers up to those in `fixed`, in topological order."""
    info = block_info(sch, block)
    last = Member(block, info, {n: n for n in (i.name for i in info.iter_vars)})
    order: dict[str, Member] = {}
    _collect(sch, block, order, fixed)
    members = [*order.values(), last]
    for reader in reversed(members):
        for member in members:
            if member is not reader and _reads(reader, member):
                member.readers += 1
                _propagate_axes(reader, member)
    return members


def _collect(sch: Schedule, block: BlockHandle, members: dict[str, Member], fixed: Collection[str]) -> None:
    for producer in sch.get_producers(block):
        info = block_info(sch, producer)
        if info.name not in members and info.name not in fixed:
            _collect(sch, producer, members, fixed)
            members[info.name] = Member(producer, info)


def _reads(reader: Member, member: Member) -> bool:
    written = {str(w) for w in member.info.writes}
    return any(str(r) in written for r in reader.info.reads)


def _propagate_axes(reader: Member, member: Member) -> None:
    """Propagate the correspondence of iters from a consumer to a producer; "" for a conflict."""
    for name, axis in _corresponding_axes(reader, member):
        if member.along.setdefault(name, axis) != axis:
            member.along[name] = ""


def _corresponding_axes(reader: Member, member: Member) -> Iterator[tuple[str, str]]:
    for written in member.info.writes:
        for read in (r for r in reader.info.reads if str(r) == str(written)):
            for ours, theirs in zip(written.axes, read.axes, strict=True):
                if len(ours) == 1:
                    yield ours[0], reader.along.get(theirs[0], "") if len(theirs) == 1 else ""


def row_axes(members: list[Member]) -> list[str]:
    """The iters of the last block that all its reductions share. Raises ScheduleError if there are no reductions."""
    last = members[-1]
    shared = [{m.along.get(n, "") for n in iters(m.info, "S")} - {""} for m in members if m.reduces]
    if not shared:
        raise ScheduleError(
            f'block "{last.info.name}" depends on no reduction along its rows; use tir_mlir.schedules.elementwise'
        )
    some = [s for s in shared if s]
    return [i.name for i in last.info.iter_vars if some and all(i.name in s for s in some)]
