"""Sums, maxima and the like over any axes, at the speed of the memory."""

from __future__ import annotations

from typing import Any

from tir_mlir.dialect.diagnostics import ScheduleError
from tir_mlir.schedule import Schedule
from tir_mlir.schedule.info import BlockInfo
from tir_mlir.schedules.block_queries import along_memory, block_info, extents, iters, nest, size, widest
from tir_mlir.schedules.threads import SHARES, inline, share
from tir_mlir.schedules.tile_sizes import LARGE, even
from tir_mlir.target import Target, host

THREAD_WORK = 1 << 16
"""Elements that pay for waking a thread."""
STREAMS = 8
"""Rows read side by side where lanes are results."""


def reduction(sch: Schedule, block: Any, target: Target | None = None, threads: int | None = None) -> None:
    """Schedule a reduction (sum, product, maximum, minimum, ...) over any axes.

        for i, k: C[i] += A[i, k]   ->   for i (parallel): C[i] += A[i, k], a sum in each lane of vectors along k
        for j, k: C[j] += A[k, j]   ->   for j_0 (parallel), k_0: C[j] += 8 rows of A, by vectors along j
        for i, k: C += A[i, k]      ->   for i_0 (parallel): part[i_0] += ...   ;   C += part[i_0]

    Each iter bound to a loop of its own; elementwise blocks before it are inlined. Any extents, symbolic ones too. A
    reduction of several results at once (argmax) is shared out to threads, and stays scalar. `target`: this machine
    when left out; `threads`: its cores. Raises ScheduleError where `block` reduces nothing.
    """
    target = target or host()
    if isinstance(block, str):
        block = sch.get_block(block)
    info = block_info(sch, block)
    if not iters(info, "R"):
        raise ScheduleError(f'block "{info.name}" reduces nothing; use tir_mlir.schedules.elementwise for it')
    for producer in sch.get_producers(block):
        if not iters(block_info(sch, producer), "R") and len(sch.get_consumers(producer)) == 1:
            inline(sch, producer)
    info, loops = block_info(sch, block), nest(sch, block)
    threads = min(threads or target.cores, max(1, size(info) // THREAD_WORK))
    order = along_memory(info, list(loops))
    rows, sums = ([n for n in order if n in iters(info, kind)] for kind in "SR")
    if len(info.writes) != 1:
        sch.reorder(*(loops[n] for n in (*rows, *sums)))
        share(sch, [loops[n] for n in rows], threads)
    elif rows and order[-1] == rows[-1]:
        _across(sch, block, info, loops, rows, sums, target, threads)
    else:
        _along(sch, block, info, loops, rows, sums, threads)


def _along(
    sch: Schedule, block: Any, info: BlockInfo, loops: dict[str, Any], rows: list[str], sums: list[str], threads: int
) -> None:
    """Lanes along the sum."""
    if len(loops) > 1:
        sch.reorder(*(loops[n] for n in (*rows, *sums)))
    known = extents(info)
    results = 1
    for n in rows:
        results *= known[n] or LARGE
    first = known[sums[0]]
    if threads > 1 and results < SHARES * threads and first is not None and first > 1:
        part, _ = sch.split(loops[sums[0]], [min(threads, first), None])
        parts = sch.rfactor(part, 0)
        inner = sch.get_loops(parts)
        own = block_info(sch, parts)
        lead = next(i for i, it in enumerate(own.iter_vars) if it.name not in known)
        sch.reorder(inner[lead], *(x for i, x in enumerate(inner) if i != lead))
        sch.vectorize(inner[-1])
        sch.parallel(inner[lead])
        return
    sch.vectorize(loops[sums[-1]])
    share(sch, [loops[n] for n in rows], threads)


def _across(
    sch: Schedule,
    block: Any,
    info: BlockInfo,
    loops: dict[str, Any],
    rows: list[str],
    sums: list[str],
    target: Target,
    threads: int,
) -> None:
    """Lanes along the results: a piece of them stays in L1 while rows are added to it."""
    lanes = target.lanes(widest(info))
    lane = loops[rows[-1]]
    piece = even(extents(info)[rows[-1]] or LARGE, max(lanes, target.l1 * 8 // (2 * widest(info))), lanes, threads)
    lane_0, lane_1 = sch.split(lane, [None, piece])
    last_0, last_1 = sch.split(loops[sums[-1]], [None, STREAMS])
    outer = [*(loops[n] for n in rows[:-1]), lane_0]
    inner = [*(loops[n] for n in sums[:-1]), last_0]
    sch.reorder(*outer, *inner, lane_1, last_1)
    sch.unroll(last_1)
    sch.vectorize(lane_1)
    init = sch.decompose_reduction(block, inner[0])
    sch.vectorize(sch.get_loops(init)[-1])
    share(sch, outer, threads)
