"""Row-wise operators on a GPU (softmax, norms): all blocks over a row in one kernel, which reads the row once."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from math import prod

from tir_mlir.dialect.ir import bits
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
"""The bytes of an input's row that is kept in shared memory; a longer one is read again."""


@dataclass(frozen=True)
class RowThreads:
    """How rows are shared: the threads of a row, the adjacent elements that each takes at once, the rows of a block,
    and the scope of what is kept of a row."""

    threads: int
    lanes: int
    together: int
    scope: str


def rowwise(sch: Schedule, block: BlockHandle, fixed: Collection[str] = ()) -> None:
    """Schedule a block and its producers with reductions along rows, row by row: several short rows, or one, a block.

        for i, k: top[i] = max(top[i], X[i, k])         for i_0 (blockIdx.x), i_1 (threadIdx.y):
        for i, j: e[i, j] = exp(X[i, j] - top[i])  ->       for k_0, k_1 (threadIdx.x): X_local[k] = X[i, k]
        for i, k: sum[i] += e[i, k]                         for k_0, k_1 (threadIdx.x): top = max(top, X_local[k])
        for i, j: Y[i, j] = e[i, j] / sum[i]                for j_0, j_1 (threadIdx.x): e[j] = ..
                                                            for k_0, k_1: sum += e[k] ;  for j_0, j_1: Y[i, j] = ..

    What blocks hand to each other is in registers, that of long rows in shared memory; so are inputs that several
    blocks read along a row. Producers that one block reads are computed there. fixed: names of producers that are left.
    Errors: ScheduleError without a reduction along rows.
    """
    rows = row_axes(with_producers(sch, block, fixed))
    for member in reversed(with_producers(sch, block, fixed)[:-1]):
        if not member.reduces and member.readers == 1:
            inline(sch, member.block)
    members = with_producers(sch, block, fixed)
    how = _row_threads(members, rows)
    row = _bind_rows(sch, members[-1], rows, how.together)
    last = extents(members[-1].info)
    if others := [n for n in last if n not in rows]:
        _share_row(sch, sch.get_loops(members[-1].block)[-len(others) :], how, vectors=True)
    for member in reversed(members[:-1]):
        _compute_in_row(sch, member, row, how)
    for name in _read_again(members, rows):
        attempt(sch, lambda name=name: _keep_input(sch, members, name, row, how))


def _row_threads(members: Sequence[Member], rows: list[str]) -> RowThreads:
    count = prod(extents(members[-1].info)[n] or LARGE for n in rows)
    length = max(_row_length(m, rows) for m in members)
    lanes = max(1, 128 // max(8, *(widest_bits(m.info) for m in members)))
    while lanes > 1 and (length < lanes * WARP or not all(_fits(m, rows, lanes) for m in members)):
        lanes //= 2
    threads = row_threads(count, length // lanes)
    together = max(1, min(THREADS // threads, count)) if threads <= WARP else 1
    return RowThreads(threads, lanes, together, "local" if length <= REGISTERS * threads else "shared")


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


def _compute_in_row(sch: Schedule, member: Member, row: LoopHandle, how: RowThreads) -> None:
    """Compute a producer for a row."""
    sch.compute_at(member.block, row, preserve_unit_loops=True)
    for number in range(len(member.info.writes)):
        sch.set_scope(member.block, number, how.scope)
    loops = sch.get_loops(member.block)[-len(member.info.iter_vars) :]
    by_name = dict(zip((it.name for it in member.info.iter_vars), loops, strict=True))
    sums = along_memory(member.info, iters(member.info, "R"))
    order = [*(n for n in by_name if n not in sums), *sums]
    if len(order) > 1 and order != list(by_name):
        sch.reorder(*(by_name[n] for n in order))
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
    region = next(r for r in block_info(sch, readers[0]).reads if str(r) == name)
    if how.scope == "shared" and bits(region.buffer.dtype) // 8 * _row_length(members[0], []) > SHARED:
        return
    copy = sch.cache_read(readers[0], name, how.scope, readers)
    sch.compute_at(copy, row, preserve_unit_loops=True)
    above = [loop.id for loop in sch.get_loops(copy)].index(row.id) + 1
    _share_row(sch, sch.get_loops(copy)[above:], how, vectors=True)
