"""Schedule for tiles of rows times matrices that data choose, as of a mixture of experts."""

from __future__ import annotations

from typing import Any

from tir_mlir.dialect.diagnostics import ScheduleError
from tir_mlir.schedule import Schedule
from tir_mlir.schedule.info import BlockInfo
from tir_mlir.schedules.block_queries import LARGE, block_info, extents, iters, loops_by_iter
from tir_mlir.schedules.steps import all_or_nothing
from tir_mlir.target import Target, chosen

THREAD_WORK = 1 << 20
"""The minimum number of multiply-adds per thread."""
SUMS = 16
"""Vectors of sums that are kept in registers at once: as many as hide the latency of an addition, and more."""


@all_or_nothing
def grouped_tiles(sch: Schedule, block: Any, target: Target | str | None = None, threads: int | None = None) -> None:
    """Schedule products of tiles of rows with panels of matrices that data choose.

        for t, p, m, w, k:                           for p_0 (parallel), t, p_1, m_0:
            Y[t, p, m, w] += X[t, m, k]      ->          for k: a tile of Y in registers += X * B
                * B[g[t], p, k, w]                       Y tile = registers

    The panels of one matrix are next to each other, and are read for all tiles while they are in the cache. Each iter
    is bound to its own loop, in this order. Errors: ScheduleError for other blocks.
    """
    target = chosen(target)
    info, loops = block_info(sch, block), loops_by_iter(sch, block)
    tile, panel, row, lane, k = _axes(info, loops)
    sizes, bits = extents(info), 32
    vectors = (sizes[lane] or 1) // target.lanes(bits)
    rows = min(sizes[row] or 1, max(1, SUMS // vectors))
    while (sizes[row] or 1) % rows:
        rows -= 1
    count = sizes[panel] or 1
    together = max(d for d in range(1, max(1, SUMS // (rows * vectors)) + 1) if count % d == 0)
    sch.reorder(*(loops[a] for a in (panel, tile, row, k, lane)))
    p_0, p_1 = sch.split(loops[panel], [None, together])
    m_0, m_1 = sch.split(loops[row], [None, rows])
    sch.reorder(p_0, loops[tile], m_0, loops[k], p_1, m_1, loops[lane])
    write_back = sch.cache_write(block, 0, "local")
    sch.reverse_compute_at(write_back, m_0, preserve_unit_loops=True)
    for loop in (p_1, m_1):
        sch.unroll(loop)
    sch.vectorize(loops[lane])
    sch.decompose_reduction(block, loops[k])
    *_, outer, inner, lanes = sch.get_loops(write_back)
    sch.unroll(outer)
    sch.unroll(inner)
    sch.vectorize(lanes)
    work = 1
    for extent in sizes.values():
        work *= extent or LARGE
    if min(threads or target.cores, work // THREAD_WORK) > 1:
        sch.parallel(p_0)


def _axes(info: BlockInfo, loops: Any) -> tuple[str, str, str, str, str]:
    """The iters of the tile, the panel, the row, the lane, and of the sum. Errors: ScheduleError."""
    spatial, sums = iters(info, "S"), iters(info, "R")
    if len(spatial) != 4 or len(sums) != 1 or len(info.writes) != 1:
        raise ScheduleError(f'block "{info.name}" is no product of tiles')
    tile, panel, row, lane = spatial
    sizes = extents(info)
    small = all((sizes[a] or LARGE) <= 64 for a in (row, lane)) and sizes[panel] is not None
    read = {str(r): [tuple(axis) for axis in r.axes] for r in info.reads if str(r) != str(info.writes[0])}
    left = [axes for axes in read.values() if axes == [(tile,), (row,), (sums[0],)]]
    right = [axes for axes in read.values() if axes[1:] == [(panel,), (sums[0],), (lane,)]]
    if not small or len(left) != 1 or len(right) != 1:
        raise ScheduleError(f'block "{info.name}" is no product of tiles')
    return tile, panel, row, lane, sums[0]
