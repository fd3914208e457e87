"""Transposes on a GPU: tiles in shared memory, so that rows are read and rows are written."""

from __future__ import annotations

from collections.abc import Collection

from tir_mlir.dialect.diagnostics import ScheduleError
from tir_mlir.schedule import BlockHandle, LoopHandle, Schedule
from tir_mlir.schedule.info import RegionInfo
from tir_mlir.schedules.block_queries import block_info, extents, is_copy, loops_by_iter
from tir_mlir.schedules.gpu.threads import WARP, bind_blocks
from tir_mlir.schedules.rows.elementwise import inline_producers
from tir_mlir.schedules.rows.transpose import Transposition, transposition

ROWS = 8
"""The rows of a tile that threads copy at once."""


def transpose(sch: Schedule, block: BlockHandle, fixed: Collection[str] = ()) -> None:
    """Schedule a transpose, or an elementwise block with transposed inputs, in tiles of 32 x 32.

        for i, j: B[i, j] = A[j, i]   ->   for i_0_j_0 (blockIdx.x):
                                               for j_1 (threadIdx.y), i_1 (threadIdx.x): A_shared[j, i] = A[j, i]
                                               for i_1 (threadIdx.y), j_1 (threadIdx.x): B[i, j] = A_shared[j, i]

    fixed: names of producers that are not inlined. The addresses of whole tiles are swizzled, the rows of others
    padded: columns are read without bank conflicts. Errors: ScheduleError unless the block reads an input, with 8 or
    more rows and columns, along another axis than the last one of its output.
    """
    inline_producers(sch, block, fixed)
    info, loops = block_info(sch, block), loops_by_iter(sch, block)
    what = transposition(info, is_copy(sch, block))
    names = {str(info.reads[n]): info.reads[n] for n in what.inputs} if what else {}
    if what is None or any(_axis(r, what.lane) is None for r in names.values()):
        raise ScheduleError(f'block "{info.name}" transposes no input of 8 x 8 elements or more')
    tiles = [(sch.cache_read(block, name, "shared"), region) for name, region in names.items()]
    sizes = [min(WARP, extents(info)[name] or WARP) for name in (what.across, what.lane)]
    (a0, a1), (l0, l1) = (
        sch.split(loops[name], [None, size]) for name, size in zip((what.across, what.lane), sizes, strict=True)
    )
    outer = [*(loops[name] for name in what.rest), a0, l0]
    sch.reorder(*outer, a1, l1)
    inner = bind_blocks(sch, outer)
    for tile, region in tiles:
        _fill(sch, tile, region, what, inner, sizes)
    _bind_tile(sch, a1, l1)


def _axis(region: RegionInfo, name: str) -> int | None:
    """The dimension that an iter alone indexes."""
    return next((d for d, axis in enumerate(region.axes) if axis == (name,)), None)


def _fill(
    sch: Schedule, tile: BlockHandle, region: RegionInfo, what: Transposition, at: LoopHandle, sizes: list[int]
) -> None:
    """Copy a tile of an input by its rows."""
    sch.compute_at(tile, at, preserve_unit_loops=True)
    row = _axis(region, what.lane) or 0
    loops = sch.get_loops(tile)[-len(region.axes) :]
    if sizes == [WARP, WARP]:
        sch.swizzle(tile, 0)
    else:
        sch.storage_align(tile, 0, row, WARP, 1)
    _bind_tile(sch, loops[row], loops[-1])


def _bind_tile(sch: Schedule, rows: LoopHandle, columns: LoopHandle) -> None:
    _, row = sch.split(rows, [None, ROWS])
    sch.bind(row, "threadIdx.y")
    sch.bind(columns, "threadIdx.x")
