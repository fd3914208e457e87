"""Schedule for matrix products on the tile registers of Intel AMX."""

from __future__ import annotations

from typing import Any

from tir_mlir.dialect.diagnostics import ScheduleError
from tir_mlir.dialect.ir import bits
from tir_mlir.intrin.amx import SCOPE, SIDE, TileDot, tile_dot
from tir_mlir.schedule import Schedule
from tir_mlir.schedules.block_queries import block_info
from tir_mlir.schedules.products.contraction import Contraction
from tir_mlir.schedules.products.grouped_packing import copy_operand, lay_out, pack_groups, pack_rows
from tir_mlir.target import Target

BLOCK = 2
"""Tiles of a block of the result, in rows and in columns: 4 of sums, 2 of each operand, all 8 registers."""


def tile_unit(what: Contraction, target: Target) -> TileDot | None:
    """The product of tiles for a matrix product; None without one, for symbolic extents, and for less than a tile."""
    unit = tile_dot(what.left.dtype, what.right.dtype, what.dtype)
    if unit is None or not what.plain or not target.has("amx-tile", unit.needs):
        return None
    m, n, k = (what.extent(axis) or 0 for axis in (what.m, what.n, what.k))
    return unit if min(m, n) >= SIDE and k >= unit.depth // 2 else None


def tile_gemm(sch: Schedule, block: Any, what: Contraction, unit: TileDot, target: Target, threads: int) -> bool:
    """Schedule a product on tiles. Returns False, unchanged, if it cannot be padded.

        for i, j, k in T.grid(m, n, k):              pack B[j_0, k // group, j, k % group]
            with T.block("C"): C += A * B     ->     for i_0 (parallel), j_0, j_p: 2 x 2 tiles of zeros
                                                         for k_0: 2 tiles of A, 2 tiles of B, 4 products of tiles
                                                         C = the tiles

    32 rows of A stay in cache while all of B passes. B is packed in panels as wide as the vectors that pack it. The
    operands are padded with zeros to whole tiles; A is read in place if its rows are contiguous and whole.
    """
    block = sch.get_block(block) if isinstance(block, str) else block
    side = BLOCK * SIDE
    width = max(side, target.lanes(bits(what.right.dtype)))
    padding = {what.m: side, what.n: width, what.k: unit.depth}
    try:
        sch.pad_einsum(block, [padding.get(axis, 1) for axis in what.extents])
    except ScheduleError:
        return False
    TileGemm(sch, block, what, unit, width, threads).run()
    return True


class TileGemm:
    """The state of scheduling one matrix product on tiles."""

    def __init__(self, sch: Schedule, block: Any, what: Contraction, unit: TileDot, width: int, threads: int):
        self.sch, self.block, self.what, self.unit, self.width, self.threads = sch, block, what, unit, width, threads
        self.batch = len(what.batch)

    def run(self) -> None:
        sch, what, unit = self.sch, self.what, self.unit
        rhs, lhs = copy_operand(sch, self.block, what.right), self._left_copy()
        stored = str(block_info(sch, self.block).writes[0])
        self._group_terms()
        sums = sch.cache_write(self.block, 0, SCOPE)
        batch, i_0, j_0, j_p, k_0, tile = self._tiled()
        sch.reverse_compute_at(sums, j_p, preserve_unit_loops=True)
        if stored != what.out:
            sch.reverse_compute_at(sch.get_consumers(sums)[0], j_p, preserve_unit_loops=True)
        if batch:
            sch.compute_at(rhs, batch[-1], preserve_unit_loops=True)
        pack_groups(sch, rhs, what, self.width, unit.group, self.threads)
        if lhs is not None:
            sch.compute_at(lhs, i_0, preserve_unit_loops=True)
            pack_rows(sch, lhs, what, unit.group)
        tiles_of_a, tiles_of_b = (sch.cache_read(self.block, n, SCOPE) for n in self._operands(lhs, rhs))
        for tiles in (tiles_of_a, tiles_of_b):
            sch.compute_at(tiles, k_0, preserve_unit_loops=True)
        self._lay_out_tiles(tiles_of_a, tiles_of_b, lhs is not None)
        zeros = sch.decompose_reduction(self.block, k_0)
        sch.tensorize(tile, unit.name)
        self._tensorize_copies(zeros, tiles_of_a, tiles_of_b, sums)
        if self.threads > 1:
            sch.parallel(i_0)

    def _left_copy(self) -> Any:
        """The block that copies the left operand; None if it is read in place."""
        operand = self.what.left
        read = block_info(self.sch, self.block).reads[operand.place].buffer.name
        in_place = read == operand.name and operand.axes[-1] == self.what.k
        return None if in_place else copy_operand(self.sch, self.block, operand)

    def _group_terms(self) -> None:
        """Split the reduction iter into groups: k -> (k // group, k % group), the innermost two."""
        what, group = self.what, self.unit.group
        position_of = list(what.extents).index
        order = [position_of(a) for a in (*what.batch, what.m, what.n)]

        def grouped(*index: Any) -> tuple:
            k = index[position_of(what.k)]
            return (*(index[a] for a in order), k // group, k % group)

        self.sch.transform_block_layout(self.block, grouped)

    def _tiled(self) -> tuple[list, Any, Any, Any, Any, Any]:
        """Tile the block. Returns the loops: batch, i_0, j_0, j_p, k_0, the outermost loop of a product of tiles."""
        sch = self.sch
        *batch, i, j, k, t = sch.get_loops(self.block)
        i_0, i_1, i_2 = sch.split(i, [None, BLOCK, SIDE])
        j_0, j_p, j_1, j_2 = sch.split(j, [None, self.width // (BLOCK * SIDE), BLOCK, SIDE])
        k_0, k_1 = sch.split(k, [None, SIDE])
        sch.reorder(*batch, i_0, j_0, j_p, k_0, i_1, j_1, i_2, j_2, k_1, t)
        sch.unroll(i_1)
        sch.unroll(j_1)
        return batch, i_0, j_0, j_p, k_0, i_2

    def _operands(self, lhs: Any, rhs: Any) -> tuple[str, str]:
        """The names of the buffers from which tiles are loaded."""
        copies = [None if c is None else block_info(self.sch, c).writes[0].buffer.name for c in (lhs, rhs)]
        return copies[0] or self.what.left.name, str(copies[1])

    def _lay_out_tiles(self, a: Any, b: Any, packed: bool) -> None:
        """Make each tile contiguous."""
        sch, what, n, depth = self.sch, self.what, self.batch, self.unit.depth

        def of_rows(index_of: Any) -> tuple:
            i, k = index_of(what.m), index_of(what.k)
            return i // SIDE, k // depth, i % SIDE, k % depth

        def of_packed_rows(*index: Any) -> tuple:
            i, k = index[n:]
            return (*index[:n], i // SIDE, k // depth, i % SIDE, k % depth)

        def of_groups(*index: Any) -> tuple:
            panel, k, j, t = index[n:]
            return (*index[:n], panel, j // SIDE, k, j % SIDE, t)

        def of_sums(*index: Any) -> tuple:
            i, j = index[n:]
            return (*index[:n], i // SIDE, j // SIDE, i % SIDE, j % SIDE)

        if packed:
            sch.transform_layout(a, ("write", 0), of_packed_rows, assume_injective_transform=True)
        else:
            lay_out(sch, a, what.left, what, of_rows)
        sch.transform_layout(b, ("write", 0), of_groups, assume_injective_transform=True)
        sch.transform_layout(self.block, ("write", 0), of_sums, assume_injective_transform=True)

    def _tensorize_copies(self, zeros: Any, a: Any, b: Any, sums: Any) -> None:
        sch, what = self.sch, self.what
        sch.tensorize(sch.get_loops(zeros)[-2], f"amx_tilezero_{what.dtype}")
        *_, i, _ = sch.get_loops(a)
        rows, row = sch.split(i, [None, SIDE])
        sch.unroll(rows)
        sch.tensorize(row, f"amx_tileload_{what.left.dtype}")
        *_, k, j, t = sch.get_loops(b)
        columns, column = sch.split(j, [None, SIDE])
        sch.reorder(columns, k, column, t)
        sch.unroll(columns)
        sch.tensorize(k, f"amx_tileload_{what.right.dtype}_vnni")
        *_, i, j = sch.get_loops(sums)
        (rows, row), (columns, column) = (sch.split(loop, [None, SIDE]) for loop in (i, j))
        sch.reorder(rows, columns, row, column)
        sch.unroll(rows)
        sch.unroll(columns)
        sch.tensorize(row, f"amx_tilestore_{what.dtype}")
