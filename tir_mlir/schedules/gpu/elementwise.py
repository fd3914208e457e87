"""Elementwise operators on a GPU: one thread for 16 bytes of the result."""

from __future__ import annotations

from collections.abc import Collection
from math import prod

from tir_mlir.dialect.diagnostics import ScheduleError
from tir_mlir.schedule import BlockHandle, Schedule
from tir_mlir.schedule.info import BlockInfo, RegionInfo
from tir_mlir.schedules.block_queries import (
    LARGE,
    block_info,
    extents,
    has_conditional_values,
    is_contiguous,
    iters,
    loops_by_iter,
    widest_bits,
)
from tir_mlir.schedules.gpu.threads import PROCESSORS, THREADS, bind_flat
from tir_mlir.schedules.rows.elementwise import inline_producers


def elementwise(sch: Schedule, block: BlockHandle, fixed: Collection[str] = ()) -> None:
    """Schedule a chain of elementwise operators that ends in a block: fused, 16 bytes a thread at once where aligned.

        for i, j: t[i, j] = X[i, j] * Y[j]              for i_j_0 (blockIdx.x), i_j_1 (threadIdx.x):
        for i, j: Z[i, j] = max(t[i, j], 0)      ->         for i_j_2 (vectorized): Z[..] = max(X[..] * Y[..], 0)

    fixed: names of producers that are not inlined. Errors: ScheduleError for a reduction.
    """
    if iters(block_info(sch, block), "R"):
        raise ScheduleError(f'block "{block_info(sch, block).name}" is a reduction')
    inline_producers(sch, block, fixed)
    info, loops = block_info(sch, block), loops_by_iter(sch, block)
    written = [a[0] for a in info.writes[0].axes if len(a) == 1]
    order = [*(n for n in loops if n not in written), *written]
    if not order:
        raise ScheduleError(f'block "{info.name}" computes a single number')
    if order != list(loops):
        sch.reorder(*(loops[n] for n in order))
    lanes = 1 if has_conditional_values(sch, block) else vector_lanes(info, order)
    bind_flat(sch, [loops[n] for n in order], THREADS, lanes)


def vector_lanes(info: BlockInfo, order: list[str]) -> int:
    """The adjacent elements that a thread computes: 16 bytes of the widest type, if the rows of each buffer start at
    multiples of them, or no buffer has rows; fewer for results that are too small for all threads."""
    sizes = extents(info)
    total = prod(sizes[name] or LARGE for name in order)
    lanes = max(1, 128 // max(8, widest_bits(info)))
    regions = (*info.reads, *info.writes)
    while lanes > 1 and (total < lanes * THREADS * PROCESSORS // 4 or not _fits(regions, sizes, order, lanes)):
        lanes //= 2
    return lanes


def _fits(regions: Collection[RegionInfo], sizes: dict[str, int | None], order: list[str], lanes: int) -> bool:
    """Whether vectors of results read and write whole vectors, or the same element for all lanes."""
    total = prod(sizes[name] or 1 for name in order)
    if total % lanes or None in sizes.values():
        return False
    flat = all(len(r.axes) == len(order) and [list(a) for a in r.axes] == [[n] for n in order] for r in regions)
    if flat and all(is_contiguous(r, sizes, order) for r in regions):
        return True
    last = order[-1]
    if (sizes[last] or 1) % lanes:
        return False
    return all(row_fits(r, last, lanes) for r in regions)


def row_fits(region: RegionInfo, last: str, lanes: int) -> bool:
    """Whether so many adjacent values of an iter access whole vectors of a buffer, or the same element."""
    if not any(last in axis for axis in region.axes):
        return True
    *others, inner = region.axes
    length = region.buffer.shape[-1]
    plain = list(inner) == [last] and not any(last in axis for axis in others)
    if not plain or length is None or length % lanes:
        return False
    start, then = (region.index_at(len(region.axes) - 1, n) for n in (0, 1))
    return start is not None and start % lanes == 0 and then == start + 1
