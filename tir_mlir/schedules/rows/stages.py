"""Schedule for chains of blocks whose values are stored between them: those that compute several elements at a time,
such as stages of Fourier transforms, and rows that are resized before means of them are."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from tir_mlir.dialect.analysis.accesses import touches
from tir_mlir.dialect.diagnostics import ScheduleError
from tir_mlir.schedule import LoopHandle, Schedule
from tir_mlir.schedule.info import BlockInfo
from tir_mlir.schedules.block_queries import (
    LARGE,
    block_handle,
    block_info,
    block_view,
    extent_of,
    extents,
    is_copy,
    loops_by_iter,
    num_instances,
    num_stores,
    widest_bits,
)
from tir_mlir.schedules.producers import Member, with_producers
from tir_mlir.schedules.rows.transpose import SQUARE, transposition
from tir_mlir.schedules.steps import all_or_nothing, inline, parallelize
from tir_mlir.target import Target, chosen
from tir_mlir.target.work_cost import stream_cycles, worth_threads

if TYPE_CHECKING:
    from tir_mlir.schedule.primitives import BlockLike

FEW = 8
"""The most numbers side by side that are interleaved in registers."""


@all_or_nothing
def stages(
    sch: Schedule, block: BlockLike, target: Target | str | None, threads: int | None, fixed: Collection[str] = ()
) -> None:
    """Compute a chain of blocks that ends in `block` row by row, each vectorized.

        for i, p: A[i, p], A[i, p + n] = ...          for i (parallel):
        for i, q: B[i, q], B[i, q + m] = ...   ->         for p: A[i, p], A[i, p + n] = ..., vectorized
                                                          for q: B[i, q], B[i, q + m] = ..., vectorized

    A block before the last one stores several elements at a time, so that none inlines it, or gathers elements that
    are read again, so that inlined it would gather more. Each iter must be bound to its own loop. fixed: producers that
    are not part of it. Raises ScheduleError for other chains, and for one whose blocks share no rows.
    """
    target = chosen(target)
    block = block_handle(sch, block)
    members = with_producers(sch, block, fixed)
    last = members[-1]
    several = any(num_stores(sch, m.block) > 1 for m in members[:-1])
    gathered = any(_gathers(m) and _is_read_again(sch, m, members) for m in members[:-1])
    if not (several or gathered) or any(m.reduces for m in members):
        raise ScheduleError(f'block "{last.info.name}" ends no chain of blocks that store or gather several elements')
    for member in [] if several else [m for m in members[:-1] if not _is_read_again(sch, m, members)]:
        inline(sch, member.block)
    members, loops = with_producers(sch, block, fixed), loops_by_iter(sch, block)
    last = members[-1]
    rows = [n for k, n in enumerate(loops, 1) if all(m.own_iters(list(loops)[:k]) for m in members)]
    if not rows or rows == list(loops):
        raise ScheduleError(f'the blocks of the chain that ends in "{last.info.name}" share no rows')
    outer = [loops[n] for n in rows]
    _vectorize(sch, last, {n: x for n, x in loops.items() if n not in rows}, target)
    for member in reversed(members[:-1]):
        sch.compute_at(member.block, outer[-1], preserve_unit_loops=True)
        own_rows = member.own_iters(rows) or []
        inner = loops_by_iter(sch, member.block, skipped=len(outer))
        _vectorize(sch, member, {n: x for n, x in inner.items() if n not in own_rows}, target)
    moved = sum(num_instances(m.info) * num_stores(sch, m.block) * widest_bits(m.info) / 8 for m in members)
    parallelize(sch, outer, worth_threads(stream_cycles(moved), threads or target.cores))


def _gathers(member: Member) -> bool:
    """Whether a block reads elements at computed positions of rows, which it would do more often inlined.

    for i, j: R[i, j] = X[i, p(j)] + X[i, q(j)]
    for i, j: Y[i, j] = R[u(i), j] + R[v(i), j]
    """
    return any(not r.axes[-1] and r.buffer.shape[-1] != 1 for r in member.info.reads if r.axes)


def _is_read_again(sch: Schedule, member: Member, members: Sequence[Member]) -> bool:
    """Whether others read elements more often than a block computes them."""
    written = {touch.buffer for touch in touches(block_view(sch, member.block).op) if touch.is_write}
    count = 0
    for reader in members:
        read = [t for t in touches(block_view(sch, reader.block).op) if not t.is_write and t.buffer in written]
        count += len(read) * num_instances(reader.info)
    return num_instances(member.info) < count


def _vectorize(sch: Schedule, member: Member, loops: Mapping[str, LoopHandle], target: Target) -> None:
    """Vectorize the loops of a row; a copy that transposes squares or interleaves rows does so in registers."""
    block, info = member.block, block_info(sch, member.block)
    *_, inner = loops
    lane, row = loops[inner], None
    what = transposition(info, True) if is_copy(sch, block) else None
    if what is not None and {what.across, what.lane} <= set(loops):
        lane, row = loops[what.lane], sch.split(loops[what.across], [None, SQUARE])[1]
    elif is_copy(sch, block) and (extents(info)[inner] or LARGE) <= FEW and (read := _last_read(info)) in loops:
        lane, row = loops[read], lane
    lanes = target.lanes(widest_bits(info))
    if (extent_of(sch, lane) or LARGE) > lanes:
        lane = sch.split(lane, [None, lanes])[1]
    if row is not None:
        sch.reorder(row, lane)
        sch.unroll(row)
    sch.vectorize(lane)


def _last_read(info: BlockInfo) -> str:
    """The iter along the rows that a block reads first."""
    last = info.reads[0].axes[-1]
    return last[0] if len(last) == 1 else ""
