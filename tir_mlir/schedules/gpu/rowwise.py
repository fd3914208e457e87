"""Row-wise operators on a GPU (softmax, norms): all blocks over a row in one kernel, with the row in shared memory."""

from __future__ import annotations

from collections.abc import Collection
from math import prod

from tir_mlir.schedule import BlockHandle, LoopHandle, Schedule
from tir_mlir.schedules.block_queries import LARGE, along_memory, extents, iters, loops_by_iter
from tir_mlir.schedules.gpu.reduction import row_threads
from tir_mlir.schedules.gpu.threads import THREADS, WARP, fuse_all
from tir_mlir.schedules.producers import Member, row_axes, with_producers
from tir_mlir.schedules.steps import inline


def rowwise(sch: Schedule, block: BlockHandle, fixed: Collection[str] = ()) -> None:
    """Schedule a block and its producers with reductions along rows, row by row: several short rows, or one, a block.

        for i, k: top[i] = max(top[i], X[i, k])         for i_0 (blockIdx.x), i_1 (threadIdx.y):
        for i, j: e[i, j] = exp(X[i, j] - top[i])  ->       for k_0, k_1 (threadIdx.x): top = max(top, X[i, k])
        for i, k: sum[i] += e[i, k]                         for j_0, j_1 (threadIdx.x): e[j] = ..
        for i, j: Y[i, j] = e[i, j] / sum[i]                for k_0, k_1: sum += e[k] ;  for j_0, j_1: Y[i, j] = ..

    What blocks hand to each other is in shared memory, a row of it. Producers that one block reads are computed there.
    fixed: names of producers that are left. Errors: ScheduleError without a reduction along rows.
    """
    rows = row_axes(with_producers(sch, block, fixed))
    for member in reversed(with_producers(sch, block, fixed)[:-1]):
        if not member.reduces and member.readers == 1:
            inline(sch, member.block)
    members = with_producers(sch, block, fixed)
    sizes = extents(members[-1].info)
    count = prod(sizes[n] or LARGE for n in rows)
    length = max(_row_length(m) for m in members)
    threads = row_threads(count, length)
    together = max(1, min(THREADS // threads, count)) if threads <= WARP else 1
    row = _bind_rows(sch, members[-1], rows, together)
    _bind_row(sch, members[-1], [n for n in sizes if n not in rows], threads, 0)
    for member in reversed(members[:-1]):
        _compute_in_row(sch, member, row, threads)


def _row_length(member: Member) -> int:
    """The terms of a sum, or the elements of a row."""
    sizes = extents(member.info)
    names = iters(member.info, "R") or [n for n in sizes]
    return prod(sizes[n] or LARGE for n in names)


def _bind_rows(sch: Schedule, last: Member, rows: list[str], together: int) -> LoopHandle:
    """Bind the rows of the last block. Returns the innermost loop around a row."""
    loops = loops_by_iter(sch, last.block)
    if len(loops) > 1:
        sch.reorder(*(loops[n] for n in rows), *(loop for n, loop in loops.items() if n not in rows))
    row = fuse_all(sch, [loops[n] for n in rows])
    outer, inner = sch.split(row, [None, together])
    sch.bind(outer, "blockIdx.x")
    sch.bind(inner, "threadIdx.y")
    return inner


def _bind_row(sch: Schedule, member: Member, names: list[str], threads: int, above: int) -> None:
    """Share what a block computes along a row among threads."""
    loops = (
        sch.get_loops(member.block)[above:] if above else sch.get_loops(member.block)[-len(names) :] if names else []
    )
    if loops:
        _, inner = sch.split(fuse_all(sch, loops), [None, threads])
        sch.bind(inner, "threadIdx.x")


def _compute_in_row(sch: Schedule, member: Member, row: LoopHandle, threads: int) -> None:
    """Compute a producer for a row, in shared memory."""
    sch.compute_at(member.block, row, preserve_unit_loops=True)
    for number in range(len(member.info.writes)):
        sch.set_scope(member.block, number, "shared")
    above = len(sch.get_loops(member.block)) - len(member.info.iter_vars)
    loops = sch.get_loops(member.block)[above:]
    by_name = dict(zip((it.name for it in member.info.iter_vars), loops, strict=True))
    sums = along_memory(member.info, iters(member.info, "R"))
    order = [*(n for n in by_name if n not in sums), *sums]
    if len(order) > 1 and order != list(by_name):
        sch.reorder(*(by_name[n] for n in order))
    shared = [by_name[n] for n in sums] or loops
    _, inner = sch.split(fuse_all(sch, shared), [None, threads])
    sch.bind(inner, "threadIdx.x")
