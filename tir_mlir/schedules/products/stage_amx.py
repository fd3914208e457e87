"""A product of one tile of rows on the tile registers of Intel AMX, as a stage among others that share the tile."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tir_mlir.intrin.amx import SCOPE, SIDE, TileDot, tile_dot
from tir_mlir.schedule import BlockHandle, LoopHandle, Schedule
from tir_mlir.schedules.block_queries import block_info
from tir_mlir.schedules.products.contraction import Contraction
from tir_mlir.schedules.products.grouped_packing import lay_out, read_groups
from tir_mlir.target import Target

if TYPE_CHECKING:
    from tir_mlir.dialect.symbolic import IntExpr

BLOCK = 2 * SIDE
"""Rows and columns of a block of the result: 4 tiles of sums, 2 of each operand, all 8 registers."""


def stage_unit(what: Contraction, target: Target, rows: int, total: int) -> TileDot | None:
    """The product of tiles for a product of `rows` of `total` rows at a time; None without one, and unless rows,
    columns and terms are whole blocks of tiles: nothing is padded."""
    unit = tile_dot(what.left.dtype, what.right.dtype, what.dtype)
    if unit is None or not what.plain or not target.has("amx-tile", unit.needs):
        return None
    n, k = what.extent(what.n) or 1, what.extent(what.k) or 1
    whole = not (rows % BLOCK or total % rows or n % BLOCK or k % unit.depth)
    return unit if whole and what.left.axes[-1] == what.k else None


@dataclass(frozen=True)
class TileStage:
    """A product of a tile of rows, of which `sums` copies what tiles have summed to memory.

    for i, j, k in T.grid(32, n, k):             for j_0: 2 x 2 tiles of zeros
        with T.block("S"): S += Q * K     ->         for k_0: 2 tiles of Q, 2 tiles of K, 4 products of tiles
                                                     S = the tiles
    """

    what: Contraction
    unit: TileDot
    block: BlockHandle
    sums: BlockHandle

    def place(self, sch: Schedule) -> None:
        """Compute the product for each block of the sums, whose copy is computed at the tile of rows."""
        i_0, j_0, *inner = sch.get_loops(self.sums)[-6:]
        sch.reorder(j_0, i_0, *inner)
        sch.compute_at(self.block, i_0, preserve_unit_loops=True)

    def schedule(self, sch: Schedule, panels: LoopHandle | None) -> None:
        """Schedule it where it is placed; the right operand is packed at the loop `panels`, the left one is read where
        it is."""
        what, unit, block = self.what, self.unit, self.block
        packed = read_groups(sch, block, what, SIDE, unit.group, panels)
        tile = sch.get_loops(self.sums)[-4:]
        i, j, k_0, k_1, t = sch.get_loops(block)[-5:]
        (i_1, i_2), (j_1, j_2) = (sch.split(x, [None, SIDE]) for x in (i, j))
        sch.reorder(k_0, i_1, j_1, i_2, j_2, k_1, t)
        a, b = (
            sch.cache_read(block, x, SCOPE) for x in (what.left.name, block_info(sch, packed).writes[0].buffer.name)
        )
        for tiles in (a, b):
            sch.compute_at(tiles, k_0, preserve_unit_loops=True)
        for loop in (i_1, j_1, *tile[:2]):
            sch.unroll(loop)
        self._lay_out_tiles(sch, a)
        zeros = sch.decompose_reduction(block, k_0)
        sch.tensorize(i_2, unit.name)
        sch.tensorize(sch.get_loops(zeros)[-2], f"amx_tilezero_{what.dtype}")
        sch.tensorize(tile[2], f"amx_tilestore_{what.dtype}")
        *_, rows, _ = sch.get_loops(a)
        r_0, r_1 = sch.split(rows, [None, SIDE])
        sch.unroll(r_0)
        sch.tensorize(r_1, f"amx_tileload_{what.left.dtype}")
        *_, panel, rows, _, _ = sch.get_loops(b)
        sch.unroll(panel)
        sch.tensorize(rows, f"amx_tileload_{what.right.dtype}_vnni")

    def _lay_out_tiles(self, sch: Schedule, a: BlockHandle) -> None:
        """Make each tile contiguous; those of the right operand are."""
        what, n, depth = self.what, len(self.what.batch), self.unit.depth

        def sum_index(*index: IntExpr) -> tuple:
            i, j = index[n:]
            return (*index[:n], i // SIDE, j // SIDE, i % SIDE, j % SIDE)

        def row_index(pos: Callable[[str], IntExpr]) -> tuple:
            i, k = pos(what.m), pos(what.k)
            return i // SIDE, k // depth, i % SIDE, k % depth

        lay_out(sch, a, what.left, what, row_index)
        sch.transform_layout(self.block, ("write", 0), sum_index, assume_injective_transform=True)


def tile_stage(sch: Schedule, block: BlockHandle, what: Contraction, unit: TileDot) -> TileStage:
    """Split the iters of a product into tiles and groups of terms, before it is computed at a tile of rows: what ends
    inside of the columns or terms then ends between tiles."""
    sums = sch.cache_write(block, 0, SCOPE)
    position_of = list(what.extents).index
    n = len(what.batch)

    def term_index(*index: IntExpr) -> tuple:
        *batch, i, j, k = (index[position_of(a)] for a in (*what.batch, what.m, what.n, what.k))
        return (*batch, i, j, k // unit.depth, k % unit.depth // unit.group, k % unit.group)

    def sum_index(*index: IntExpr) -> tuple:
        i, j = index[n:]
        return (*index[:n], i // BLOCK, j // BLOCK, i % BLOCK // SIDE, j % BLOCK // SIDE, i % SIDE, j % SIDE)

    sch.transform_block_layout(block, term_index)
    sch.transform_block_layout(sums, sum_index)
    return TileStage(what, unit, block, sums)
