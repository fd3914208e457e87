"""Row-wise operators on a GPU (softmax, norms): all blocks over a row in one kernel, which reads the row once."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from math import prod

from tir_mlir.dialect.diagnostics import ScheduleError
from tir_mlir.schedule import BlockHandle, LoopHandle, Schedule
from tir_mlir.schedule.info import RegionInfo
from tir_mlir.schedules.block_queries import (
    LARGE,
    along_memory,
    block_info,
    extents,
    iters,
    loops_by_iter,
    widest_bits,
)
from tir_mlir.schedules.gpu.elementwise import row_fits
from tir_mlir.schedules.gpu.reduction import row_threads
from tir_mlir.schedules.gpu.threads import THREADS, WARP, bind_shared, fuse_all
from tir_mlir.schedules.producers import Member, row_axes, with_producers
from tir_mlir.schedules.steps import attempt, inline

REGISTERS = 32
"""The elements of a row that a thread keeps in registers."""
SHARED = 24 << 10
"""The bytes of rows that are kept in shared memory, at most."""


@dataclass(frozen=True)
class RowThreads:
    """How rows are shared: the threads of a row, the adjacent elements that each takes at once, the rows of a block,
    and whether what is kept of a row is in registers."""

    threads: int
    lanes: int
    together: int
    in_registers: bool


def rowwise(sch: Schedule, block: BlockHandle, fixed: Collection[str] = ()) -> None:
    """Schedule a block and its producers with reductions along rows, row by row: several short rows, or one, a block.

        for i, k: top[i] = max(top[i], X[i, k])         for i_0 (blockIdx.x), i_1 (threadIdx.y):
        for i, j: e[i, j] = exp(X[i, j] - top[i])  ->       for k_0, k_1 (threadIdx.x): X_local[k] = X[i, k]
        for i, k: sum[i] += e[i, k]                         for k_0, k_1 (threadIdx.x): top = max(top, X_local[k])
        for i, j: Y[i, j] = e[i, j] / sum[i]                for j_0, j_1 (threadIdx.x): e[j] = ..
                                                            for k_0, k_1: sum += e[k] ;  for j_0, j_1: Y[i, j] = ..

    What blocks hand to each other is in registers, and so are inputs that several blocks read along a row. Of rows that
    are too long, and where a block reads another element than the thread has computed, producers are computed again for
    each reader, or are in shared memory. Producers that one block reads are computed there. fixed: names of producers
    that are left. Errors: ScheduleError without a reduction along rows, or for rows that shared memory does not hold.
    """
    rows = row_axes(with_producers(sch, block, fixed))
    if not rows:
        raise ScheduleError(f'block "{block_info(sch, block).name}" has no axis that all its reductions share')
    members = _inline(sch, block, fixed, every=False)
    how = _row_threads(members, rows)
    if not how.in_registers:
        members = _inline(sch, block, fixed, every=True)
    _check_shared(members, rows, how)
    row = _bind_rows(sch, members[-1], rows, how.together)
    last = extents(members[-1].info)
    if others := [n for n in last if n not in rows]:
        _share_row(sch, sch.get_loops(members[-1].block)[-len(others) :], how, vectors=True)
    for member in reversed(members[:-1]):
        _compute_in_row(sch, member, rows, row, how)
    for name in _read_again(members, rows) if how.in_registers else ():
        attempt(sch, lambda name=name: _keep_input(sch, members, name, row, how))


def _inline(sch: Schedule, block: BlockHandle, fixed: Collection[str], every: bool) -> list[Member]:
    """Inline elementwise producers that one block reads, or every one. Returns the blocks that remain."""
    for member in reversed(with_producers(sch, block, fixed)[:-1]):
        if not member.reduces and (every or member.readers == 1):
            inline(sch, member.block)
    return with_producers(sch, block, fixed)


def _check_shared(members: Sequence[Member], rows: list[str], how: RowThreads) -> None:
    """Refuse rows of unknown length, and those that shared memory does not hold."""
    kept = [m for m in members[:-1] if _kept_in_row(m, rows)]
    if how.in_registers or not kept:
        return
    total = 0
    for member in kept:
        sizes = extents(member.info)
        names = [n for n in _kept_in_row(member, rows)]
        if any(sizes[n] is None for n in names):
            raise ScheduleError(f'a call decides how much of block "{member.info.name}" is kept of a row')
        total += how.together * prod(sizes[n] or 1 for n in names) * widest_bits(member.info) // 8
    if total > SHARED:
        raise ScheduleError(f"{total} bytes of a row are kept, and at most {SHARED} are in shared memory")


def _kept_in_row(member: Member, rows: list[str]) -> list[str]:
    """The iters of what a block leaves of a row: of a sum that is one number, none."""
    return [n for n in iters(member.info, "S") if member.along.get(n) not in rows]


def _in_registers(member: Member, rows: list[str]) -> bool:
    """Whether a block accesses what it keeps of a row, and reads of others, at one iter along the row: each thread then
    reads what it has itself."""
    names = [*_kept_in_row(member, rows), *iters(member.info, "R")]
    regions = (*member.info.reads, *member.info.writes)
    return len(names) <= 1 and all(_is_along(r, name) for r in regions for name in names)


def _is_along(region: RegionInfo, name: str) -> bool:
    """Whether an iter, if it indexes a buffer, is an index of its own."""
    where = [d for d, axis in enumerate(region.axes) if name in axis]
    alone = all(region.axes[d] == (name,) and [region.index_at(d, n) for n in (0, 1)] == [0, 1] for d in where)
    return not where or (len(where) == 1 and alone)


def _row_threads(members: Sequence[Member], rows: list[str]) -> RowThreads:
    count = prod(extents(members[-1].info)[n] or LARGE for n in rows)
    length = max(_row_length(m, rows) for m in members)
    lanes = max(1, 128 // max(8, *(widest_bits(m.info) for m in members)))
    while lanes > 1 and (length < lanes * WARP or not all(_fits(m, rows, lanes) for m in members)):
        lanes //= 2
    threads = row_threads(count, length // lanes)
    together = max(1, min(THREADS // threads, count)) if threads <= WARP else 1
    lengths = {_row_length(m, rows) for m in members if _along_row(m, rows)}
    fits = length <= REGISTERS * threads and len(lengths) == 1
    return RowThreads(threads, lanes, together, fits and all(_in_registers(m, rows) for m in members))


def _along_row(member: Member, rows: list[str]) -> list[str]:
    """The iters of a block along a row: of a sum its terms."""
    inner = [n for n in extents(member.info) if member.along.get(n) not in rows]
    return iters(member.info, "R") or inner


def _row_length(member: Member, rows: list[str]) -> int:
    sizes = extents(member.info)
    return prod(sizes[n] or LARGE for n in _along_row(member, rows))


def _fits(member: Member, rows: list[str], lanes: int) -> bool:
    """Whether so many adjacent elements of a row are whole vectors of each buffer."""
    names, sizes = _along_row(member, rows), extents(member.info)
    if not names:
        return True
    regions = (*member.info.reads, *member.info.writes)
    return (
        len(names) == 1 and (sizes[names[0]] or 1) % lanes == 0 and all(row_fits(r, names[0], lanes) for r in regions)
    )


def _bind_rows(sch: Schedule, last: Member, rows: list[str], together: int) -> LoopHandle:
    """Bind the rows of the last block. Returns the innermost loop around a row."""
    loops = loops_by_iter(sch, last.block)
    if len(loops) > 1:
        sch.reorder(*(loops[n] for n in rows), *(loop for n, loop in loops.items() if n not in rows))
    return bind_shared(sch, [loops[n] for n in rows], "threadIdx.y", together)


def _share_row(sch: Schedule, loops: Sequence[LoopHandle], how: RowThreads, vectors: bool = False) -> None:
    """Share what a block computes along a row among threads. vectors: it accesses whole vectors."""
    _, inner, lanes = sch.split(fuse_all(sch, loops), [None, how.threads, how.lanes])
    sch.bind(inner, "threadIdx.x")
    if vectors and how.lanes > 1:
        sch.vectorize(lanes)


def _compute_in_row(sch: Schedule, member: Member, rows: list[str], row: LoopHandle, how: RowThreads) -> None:
    """Compute a producer for a row."""
    sch.compute_at(member.block, row, preserve_unit_loops=True)
    for number in range(len(member.info.writes)):
        sch.set_scope(
            member.block, number, "shared" if _kept_in_row(member, rows) and not how.in_registers else "local"
        )
    loops = sch.get_loops(member.block)[-len(member.info.iter_vars) :]
    by_name = dict(zip((it.name for it in member.info.iter_vars), loops, strict=True))
    sums = along_memory(member.info, iters(member.info, "R"))
    order = [*(n for n in by_name if n not in sums), *sums]
    if len(order) > 1 and order != list(by_name):
        sch.reorder(*(by_name[n] for n in order))
    if _along_row(member, rows):  # a number of a row is computed by each thread
        _share_row(sch, [by_name[n] for n in sums] or loops, how)


def _read_again(members: Sequence[Member], rows: list[str]) -> list[str]:
    """The inputs that several blocks read along a row, at the same elements."""
    written = {str(w) for m in members for w in m.info.writes}
    regions: dict[str, list[RegionInfo]] = {}
    for member in members:
        for read in member.info.reads:
            if str(read) not in written and len(read.axes) > len(rows):
                regions.setdefault(str(read), []).append(read)
    return [name for name, found in regions.items() if len(found) > 1]


def _keep_input(sch: Schedule, members: Sequence[Member], name: str, row: LoopHandle, how: RowThreads) -> None:
    """Copy a row of an input once, for all blocks that read it."""
    readers = [m.block for m in members if name in map(str, block_info(sch, m.block).reads)]
    copy = sch.cache_read(readers[0], name, "local", readers)
    sch.compute_at(copy, row, preserve_unit_loops=True)
    above = [loop.id for loop in sch.get_loops(copy)].index(row.id) + 1
    _share_row(sch, sch.get_loops(copy)[above:], how, vectors=True)
