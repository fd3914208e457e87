"""Schedule for tiles of rows times matrices that data choose, as of a mixture of experts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import prod

from tir_mlir.dialect.diagnostics import ScheduleError
from tir_mlir.intrin.amx import SCOPE, SIDE, TileDot, tile_dot
from tir_mlir.schedule import BlockHandle, LoopHandle, Schedule
from tir_mlir.schedule.info import RegionInfo
from tir_mlir.schedules.block_queries import LARGE, block_info, extents, iters, loops_by_iter
from tir_mlir.schedules.steps import all_or_nothing, merge_epilogue
from tir_mlir.target import Target, chosen
from tir_mlir.target.work_cost import product_cycles, worth_threads

SUMS = 16
"""Vectors of sums that are kept in registers at once: as many as hide the latency of an addition, and more."""
ROWS, WIDENED_ROWS = 8, 4
"""The maximum number of rows of a tile in vector registers; of numbers that are widened, whose copies take more."""
BLOCK = 2
"""Panels whose tiles of sums are in tile registers at once."""


@dataclass(frozen=True)
class TileProduct:
    """`Y[t, p, m, w] += X[t, m, k] * B[g[t], p, k, w]`: names of iters, and their extents.

    copy: the block that computes B[g[t], ..], if it is one of its own.
    """

    tile: str
    panel: str
    row: str
    lane: str
    k: str
    sizes: dict[str, int | None]
    left: RegionInfo
    right: RegionInfo
    dtype: str
    copy: BlockHandle | None

    def size(self, axis: str) -> int:
        return self.sizes[axis] or 1


@all_or_nothing
def grouped_tiles(
    sch: Schedule,
    block: BlockHandle,
    target: Target | str | None = None,
    threads: int | None = None,
    epilogue: BlockHandle | None = None,
) -> None:
    """Schedule products of tiles of rows with panels of matrices that data choose.

        for t, p, m, w, k:                           for p_0 (parallel), t, p_1, m_0:
            Y[t, p, m, w] += X[t, m, k]      ->          for k: a tile of Y in registers += X * B
                * B[g[t], p, k, w]                       Y tile = registers

    The panels of one matrix are next to each other, and are read for all tiles while they are in the cache. Tiles of 16
    rows of numbers that the tile registers of AMX take are computed in these, from copies of parts of the panels, in
    which adjacent terms are interleaved. Each iter is bound to its own loop, in this order. epilogue: as of
    `gemm`. Errors: ScheduleError for other blocks.
    """
    target = chosen(target)
    what = tile_product(sch, block)
    unit = _tile_instruction(what, target)
    panels = (
        _compute_in_tiles(sch, block, what, unit, epilogue)
        if unit
        else _compute_in_vectors(sch, block, what, target, epilogue)
    )
    work = prod(e or LARGE for e in what.sizes.values())
    if worth_threads(product_cycles(work, what.left.buffer.dtype, target), threads or target.cores) > 1:
        sch.parallel(panels)


def tile_product(sch: Schedule, block: BlockHandle) -> TileProduct:
    """Match a block with a product of tiles. Raises ScheduleError if it is not one."""
    info = block_info(sch, block)
    spatial, sums = iters(info, "S"), iters(info, "R")
    if len(spatial) != 4 or len(sums) != 1 or len(info.writes) != 1:
        raise ScheduleError(f'block "{info.name}" is not a product of tiles')
    (tile, panel, row, lane), (k,), sizes = spatial, sums, extents(info)
    small = all((sizes[a] or LARGE) <= 64 for a in (row, lane)) and sizes[panel] is not None
    axes = [([tuple(a) for a in r.axes], r) for r in info.reads if str(r) != str(info.writes[0])]
    left = [r for a, r in axes if a == [(tile,), (row,), (k,)]]
    right = [r for a, r in axes if a[1:] == [(panel,), (k,), (lane,)]]
    if not small or len(left) != 1 or len(right) != 1:
        raise ScheduleError(f'block "{info.name}" is not a product of tiles')
    copies = [p for p in sch.get_producers(block) if str(right[0]) in map(str, block_info(sch, p).writes)]
    if not copies and right[0].axes[0]:
        raise ScheduleError(f'block "{info.name}" is a product of matrices that no data choose')
    dtype = info.writes[0].buffer.dtype
    return TileProduct(tile, panel, row, lane, k, sizes, left[0], right[0], dtype, copies[0] if copies else None)


def _compute_in_vectors(
    sch: Schedule, block: BlockHandle, what: TileProduct, target: Target, epilogue: BlockHandle | None
) -> LoopHandle:
    """Compute tiles in vector registers. Returns the loop over panels."""
    if what.copy is not None:
        sch.compute_inline(what.copy)
    loops, height = loops_by_iter(sch, block), what.size(what.row)
    vectors = max(1, what.size(what.lane) // target.lanes(32))
    highest = ROWS if what.left.buffer.dtype == what.dtype else WIDENED_ROWS
    rows = max(d for d in range(1, min(highest, max(1, SUMS // vectors)) + 1) if height % d == 0)
    most = max(1, SUMS // (rows * vectors))
    together = max(d for d in range(1, most + 1) if what.size(what.panel) % d == 0)
    p_0, p_1 = sch.split(loops[what.panel], [None, together])
    m_0, m_1 = sch.split(loops[what.row], [None, rows])
    k, lanes = loops[what.k], loops[what.lane]
    sch.reorder(p_0, loops[what.tile], m_0, k, p_1, m_1, lanes)
    write_back = sch.cache_write(block, 0, "local")
    sch.reverse_compute_at(write_back, m_0, preserve_unit_loops=True)
    merge_epilogue(sch, write_back, epilogue)
    for loop in (p_1, m_1):
        sch.unroll(loop)
    sch.vectorize(lanes)
    sch.decompose_reduction(block, k)
    *_, outer, inner, row = sch.get_loops(write_back)
    sch.unroll(outer)
    sch.unroll(inner)
    sch.vectorize(row)
    return p_0


def _tile_instruction(what: TileProduct, target: Target) -> TileDot | None:
    """The product of tiles of AMX that computes one of rows; None: there is none."""
    unit = tile_dot(what.left.buffer.dtype, what.right.buffer.dtype, what.dtype)
    if unit is None or what.copy is None or not target.has("amx-tile", unit.needs):
        return None
    fits = what.size(what.row) % SIDE == 0 and what.size(what.lane) == SIDE and what.size(what.k) % unit.depth == 0
    return unit if fits else None


def _compute_in_tiles(
    sch: Schedule, block: BlockHandle, what: TileProduct, unit: TileDot, epilogue: BlockHandle | None
) -> LoopHandle:
    """Compute tiles in tile registers. Returns the loop over panels.

    for p_0, t, m_0, k_0: copy B[g[t], p, k, w] of 2 panels, one tile each; interleave its terms, load the tiles
                          load a tile of rows; 2 products of tiles
    """
    assert what.copy is not None  # see _tile_instruction
    group, depth = unit.group, unit.depth
    write_back = sch.cache_write(block, 0, "global") if epilogue is not None else None
    merge_epilogue(sch, write_back, epilogue)
    sch.transform_block_layout(block, lambda t, p, m, w, k: (t, p, m, w, k // group, k % group))
    sums = sch.cache_write(block, 0, SCOPE)
    p_0, _t, m_0, k_0 = _tile_loops(sch, block, what)
    for copy in (sums, write_back):
        if copy is not None:
            sch.reverse_compute_at(copy, m_0, preserve_unit_loops=True)
    pairs = sch.cache_read(block, str(what.right), "global")
    _lay_out(sch, pairs, lambda t, p, k, w: (t, p, k // group, w, k % group))
    names = str(what.left), str(block_info(sch, pairs).writes[0])
    rows, panels = (sch.cache_read(block, name, SCOPE) for name in names)
    for copy in (rows, panels, pairs, what.copy):
        sch.compute_at(copy, k_0, preserve_unit_loops=True)
    _lay_out(sch, rows, lambda t, m, k: (t, m // SIDE, k // depth, m % SIDE, k % depth))
    _lay_out(sch, panels, lambda t, p, k, w, s: (t, p, k // SIDE, k % SIDE, w, s))
    sch.vectorize(sch.get_loops(what.copy)[-1])
    *_, k, w = sch.get_loops(pairs)
    sch.unroll(sch.split(k, [None, group])[1])
    sch.vectorize(w)
    if write_back is not None:
        sch.vectorize(sch.get_loops(write_back)[-1])
    zeros = sch.decompose_reduction(block, k_0)
    for of, loops, name in (
        (block, 4, unit.name),
        (zeros, 2, f"amx_tilezero_{what.dtype}"),
        (rows, 2, f"amx_tileload_{what.left.buffer.dtype}"),
        (panels, 3, f"amx_tileload_{what.right.buffer.dtype}_vnni"),
        (sums, 2, f"amx_tilestore_{what.dtype}"),
    ):
        sch.tensorize(sch.get_loops(of)[-loops], name)
    return p_0


def _tile_loops(
    sch: Schedule, block: BlockHandle, what: TileProduct
) -> tuple[LoopHandle, LoopHandle, LoopHandle, LoopHandle]:
    """Tile the block. Returns the loops around tiles: panels, tiles of rows, rows, terms."""
    t, p, m, w, k, s = sch.get_loops(block)
    p_0, p_1 = sch.split(p, [None, BLOCK if what.size(what.panel) % BLOCK == 0 else 1])
    (m_0, m_1), (k_0, k_1) = (sch.split(loop, [None, SIDE]) for loop in (m, k))
    sch.reorder(p_0, t, m_0, k_0, p_1, m_1, w, k_1, s)
    sch.unroll(p_1)
    return p_0, t, m_0, k_0


def _lay_out(sch: Schedule, copy: BlockHandle, layout: Callable[..., tuple]) -> None:
    sch.transform_layout(copy, ("write", 0), layout, assume_injective_transform=True)
