"""Schedule for matrix products on the tile registers of Intel AMX."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil
from typing import TYPE_CHECKING

from tir_mlir.dialect.diagnostics import ScheduleError
from tir_mlir.dialect.ir import bits
from tir_mlir.intrin.amx import SCOPE, SIDE, TileDot, tile_dot
from tir_mlir.schedule import BlockHandle, LoopHandle, Schedule
from tir_mlir.schedules.block_queries import block_info
from tir_mlir.schedules.products.contraction import Contraction, ContractionOperand
from tir_mlir.schedules.products.grouped_packing import (
    computed_rows,
    copy_groups,
    copy_operand,
    copy_rows,
    lay_out,
    lay_out_groups,
    lay_out_rows,
    vectorize_rows,
)
from tir_mlir.schedules.steps import CHUNKS_PER_THREAD, give_reasons, merge_epilogue
from tir_mlir.target import Target

if TYPE_CHECKING:
    from tir_mlir.dialect.symbolic import IntExpr

BLOCK = 2
"""Tiles of a block of the result, in rows and in columns: 4 of sums, 2 of each operand, all 8 registers; see
`tile_shape`."""


def tile_unit(what: Contraction, target: Target, fewest: int = SIDE) -> TileDot | None:
    """The product of tiles for a matrix product; None without one, for symbolic columns or sums, for less than a tile,
    and for fewer rows. fewest: 1 where callers pass B in panels, which one row reads as fast as rows of B."""
    unit = tile_dot(what.left.dtype, what.right.dtype, what.dtype)
    if unit is None or not what.plain or not target.has("amx-tile", unit.needs):
        return None
    m, n, k = (what.extent(axis) or default for axis, default in ((what.m, SIDE), (what.n, 0), (what.k, 0)))
    return unit if m >= fewest and n >= SIDE and k >= unit.depth // 2 else None


def tile_panels(what: Contraction, unit: TileDot) -> tuple[int, int]:
    """The width of the panels in which a product on tiles reads its right operand, and the group of terms, if callers
    can pass it so: whole tiles. (0, 0): they cannot."""
    n, k, width = what.extent(what.n) or 0, what.extent(what.k) or 0, BLOCK * SIDE
    fits = what.is_unbatched and n and k and n % width == 0 and k % unit.depth == 0
    return (width, unit.group) if fits else (0, 0)


def tile_gemm(
    sch: Schedule, block: BlockHandle, what: Contraction, unit: TileDot, target: Target, threads: int,
    epilogue: BlockHandle | None = None,
) -> bool:  # fmt: skip
    """Schedule a product on tiles. Returns False, unchanged, if it cannot be padded.

        for i, j, k in T.grid(m, n, k):              pack B[j_0, k // group, j, k % group]
            with T.block("C"): C += A * B     ->     for j_b, i_0 (parallel), j_0, j_p: 2 x 2 tiles of zeros
                                                         for k_0: 2 tiles of A, 2 tiles of B, 4 products of tiles
                                                         C = the tiles

    A block of columns of B, see `column_blocks`, remains in cache while all of A passes; threads share the rows, or the
    blocks. B is packed in panels as wide as the vectors that pack it. The operands are padded with zeros to whole
    tiles, as A is where the number of rows is symbolic: one code has any number. A is read in place if its rows are
    contiguous and whole, and B if callers pass it packed, see `prepack`. epilogue: as of `gemm`, computed from the
    tiles in cache.
    """
    side, rows = BLOCK * SIDE, tile_shape(what)[0]
    width = what.right.panel or max(side, target.lanes(bits(what.right.dtype)))
    if what.right.group and (width, what.right.group) != tile_panels(what, unit):
        return False
    padding = {what.m: rows * SIDE, **({} if what.right.group else {what.n: width, what.k: unit.depth})}
    try:
        sch.pad_einsum(block, [padding.get(axis, 1) for axis in what.extents])
    except ScheduleError:
        return False
    blocks = column_blocks(what, width, target, threads)
    part = f"{ceil((what.extent(what.n) or 0) / blocks)} columns, whose part of {what.right.name} remains in L2"
    give_reasons(sch, what.out, [f"{rows} x {tile_shape(what)[1]} tiles of sums; {blocks} blocks of {part}"])
    TileGemm(sch, block, what, unit, width, blocks, threads, epilogue).run()
    return True


def tile_shape(what: Contraction) -> tuple[int, int]:
    """The rows and columns of a block of the result, in tiles: (1, 4) instead of (2, 2) where rows are an odd number of
    tiles, so that they are read in place, or fewer than one has; the tiles of B then pass through one register, which
    the CPU renames."""
    m, n = (what.extent(axis) or 0 for axis in (what.m, what.n))
    odd = m % (BLOCK * SIDE) == SIDE or 0 < m < SIDE
    return (1, 2 * BLOCK) if odd and n % (2 * BLOCK * SIDE) == 0 else (BLOCK, BLOCK)


def column_blocks(what: Contraction, width: int, target: Target, threads: int) -> int:
    """The number of blocks of columns, each of whole panels: A passes once for each, and B once in all.

    A quarter of L2 holds the part of B of a block, for all tiles of rows, together with A and the result. Threads
    share the rows of a block where there are enough tiles, else the blocks. width: of a panel.
    """
    n, k = (what.extent(axis) or 1 for axis in (what.n, what.k))
    panels = ceil(n / max(width, tile_shape(what)[1] * SIDE))
    least = ceil(n * k * bits(what.right.dtype) // 8 / (target.l2 // 4))
    most = 0 if threads == 1 or _shares_rows(what, threads) else CHUNKS_PER_THREAD * threads
    even = [c for c in range(least, panels + 1) if panels % c == 0 and (most == 0 or c % threads == 0 or c > most)]
    return next(iter(even), panels)


def _shares_rows(what: Contraction, threads: int) -> bool:
    """Whether threads share the rows: there are tiles for all of them."""
    tiles = ceil((what.extent(what.m) or 1) / (tile_shape(what)[0] * SIDE))
    return tiles % threads == 0 or tiles >= CHUNKS_PER_THREAD * threads


def _split_columns(*index: IntExpr) -> tuple:
    """The iters of a copy of panels, by tiles: panel, k, j, t -> panel, j // 16, k, j % 16, t."""
    *others, k, j, t = index
    return (*others, j // SIDE, k, j % SIDE, t)


class TileGemm:
    """The state of scheduling one matrix product on tiles."""

    def __init__(
        self, sch: Schedule, block: BlockHandle, what: Contraction, unit: TileDot, width: int, blocks: int,
        threads: int, epilogue: BlockHandle | None = None,
    ):  # fmt: skip
        self.sch, self.block, self.what, self.unit, self.width, self.threads = sch, block, what, unit, width, threads
        self.batch, self.epilogue, self.blocks = len(what.batch), epilogue, blocks
        self.shares_columns = threads > 1 and not _shares_rows(what, threads)
        self.shape = tile_shape(what)

    def run(self) -> None:
        sch, what, unit = self.sch, self.what, self.unit
        rhs, lhs = None if what.right.group else copy_operand(sch, self.block, what.right), self._left_copy()
        write_back = self._write_back()
        self._group_terms()
        if rhs is not None:
            lay_out_groups(sch, rhs, what, self.width, unit.group)
        sums = sch.cache_write(self.block, 0, SCOPE)
        if lhs is not None:
            lay_out_rows(sch, lhs, what)
        tiles_of_a = sch.cache_read(self.block, self._name(lhs, what.left), SCOPE)
        tiles_of_b = sch.cache_read(self.block, self._name(rhs, what.right), SCOPE)
        sch.transform_block_layout(tiles_of_b, _split_columns)
        self._block_tiles(tiles_of_a, sums, self.batch if lhs is not None else what.left.axes.index(what.m))
        batch, j_b, i_0, j_p, k_0, j_1, tile = self._tile_block()
        for copy in (sums, write_back):
            if copy is not None:
                sch.reverse_compute_at(copy, j_p, preserve_unit_loops=True)
        if write_back is not None:
            self._vectorize_rows(write_back)
        sch.compute_at(tiles_of_a, k_0, preserve_unit_loops=True)
        self._copy_rows(lhs, tiles_of_a, batch[-1:] if self.blocks > 1 else [i_0])
        sch.compute_at(tiles_of_b, k_0 if self.shape[0] > 1 else j_1, preserve_unit_loops=True)
        if rhs is not None:
            if self.blocks > 1 or batch:  # else it remains a nest of its own, on which steps take a fifth of the time
                sch.compute_at(rhs, j_b, preserve_unit_loops=True)
            copy_groups(sch, rhs, what, self.width, unit.group, 1 if self.shares_columns else self.threads)
        self._lay_out_tiles(tiles_of_a, tiles_of_b, lhs is not None)
        zeros = sch.decompose_reduction(self.block, k_0)
        sch.tensorize(tile, unit.name)
        self._tensorize_copies(zeros, tiles_of_a, tiles_of_b, sums)
        if self.threads > 1:
            sch.parallel(j_b if self.shares_columns else i_0)

    def _copy_rows(self, lhs: BlockHandle | None, tiles: BlockHandle, around: list) -> None:
        """Copy the left operand, or compute it where it is patches of an image: for a pair of tiles, or as a whole
        where all blocks of columns read it."""
        sch, what = self.sch, self.what
        patches, sharing = computed_rows(sch, what.left, lhs, tiles), self.threads if self.blocks > 1 else 1
        rows = patches if lhs is None else lhs
        if rows is None:
            return
        if around:
            sch.compute_at(rows, around[-1], preserve_unit_loops=True)
        if lhs is not None:
            copy_rows(sch, lhs, what, self.unit.group, sharing)
        elif sharing > 1:
            sch.parallel(sch.get_loops(rows)[-2])
        if patches is not None or what.left.axes[-1] == what.k:
            vectorize_rows(sch, rows)

    def _write_back(self) -> BlockHandle | None:
        """The block that copies sums from memory to the result, with the epilogue merged into it; None if tiles are
        stored in the result."""
        sch, block = self.sch, self.block
        if str(block_info(sch, block).writes[0]) != self.what.out:
            write_back = sch.get_consumers(block)[0]
        elif self.epilogue is None:
            return None
        else:
            write_back = sch.cache_write(block, 0, "global")
        merge_epilogue(sch, write_back, self.epilogue)
        return write_back

    def _vectorize_rows(self, write_back: BlockHandle) -> None:
        """Vectorize the copy of a block of sums along its rows, a tile wide; without a loop, in which LLVM would call
        memcpy, after which it configures the tiles again."""
        *_, row = self.sch.get_loops(write_back)
        tiles, row = self.sch.split(row, [None, SIDE])
        self.sch.unroll(tiles)
        self.sch.vectorize(row)

    def _left_copy(self) -> BlockHandle | None:
        """The block that copies the left operand; None if it is read in place."""
        operand = self.what.left
        read = block_info(self.sch, self.block).reads[operand.position].buffer.name
        in_place = read == operand.name and operand.axes[-1] == self.what.k
        return None if in_place else copy_operand(self.sch, self.block, operand)

    def _group_terms(self) -> None:
        """Split the reduction iter into groups: k -> (k // group, k % group), the innermost two."""
        what, group, side = self.what, self.unit.group, self.shape[0] * SIDE
        position_of = list(what.extents).index

        def grouped_index(*index: IntExpr) -> tuple:
            m, n, k = (index[position_of(a)] for a in (what.m, what.n, what.k))
            return (*(index[position_of(a)] for a in what.batch), m // side, m % side, n, k // group, k % group)

        self.sch.transform_block_layout(self.block, grouped_index)

    def _block_tiles(self, a: BlockHandle, sums: BlockHandle, rows: int) -> None:
        """Split the iters of copies into blocks of tiles, tiles, and rows of a tile, as those of the product are: a
        guard of symbolic rows is then one of blocks, outside of tiles. rows: the position of the rows of A."""
        n, side = self.batch, self.shape[0] * SIDE

        def row_index(*index: IntExpr) -> tuple:
            i = index[rows]
            return (*index[:rows], i // side, i % side // SIDE, i % SIDE, *index[rows + 1 :])

        def sum_index(*index: IntExpr) -> tuple:
            i, j = index[n:]
            return (*index[:n], i // side, i % side // SIDE, j // SIDE, i % SIDE, j % SIDE)

        self.sch.transform_block_layout(a, row_index)
        self.sch.transform_block_layout(sums, sum_index)

    def _tile_block(
        self,
    ) -> tuple[list[LoopHandle], LoopHandle, LoopHandle, LoopHandle, LoopHandle, LoopHandle, LoopHandle]:
        """Tile the block. Returns the loops: batch, j_b, i_0, j_p, k_0, j_1, the outermost of a product of tiles."""
        sch, columns = self.sch, self.shape[1]
        *batch, i_0, i, j, k, t = sch.get_loops(self.block)
        i_1, i_2 = sch.split(i, [None, SIDE])
        panels = max(1, self.width // (columns * SIDE))
        j_b, j_0, j_p, j_1, j_2 = sch.split(j, [self.blocks, None, panels, columns, SIDE])
        k_0, k_1 = sch.split(k, [None, SIDE])
        sch.reorder(*batch, j_b, i_0, j_0, j_p, k_0, i_1, j_1, i_2, j_2, k_1, t)
        sch.unroll(i_1)
        sch.unroll(j_1)
        return batch, j_b, i_0, j_p, k_0, j_1, i_2

    def _name(self, copy: BlockHandle | None, operand: ContractionOperand) -> str:
        """The name of the buffer from which the tiles of an operand are loaded: of its copy, if there is one."""
        return operand.name if copy is None else block_info(self.sch, copy).writes[0].buffer.name

    def _lay_out_tiles(self, a: BlockHandle, b: BlockHandle, packed: bool) -> None:
        """Make each tile contiguous."""
        sch, what, n, depth = self.sch, self.what, self.batch, self.unit.depth

        def row_index(index_of: Callable[[str], IntExpr]) -> tuple:
            i, k = index_of(what.m), index_of(what.k)
            return i // SIDE, k // depth, i % SIDE, k % depth

        def packed_row_index(*index: IntExpr) -> tuple:
            i, k = index[n:]
            return (*index[:n], i // SIDE, k // depth, i % SIDE, k % depth)

        def group_index(*index: IntExpr) -> tuple:
            panel, k, j, t = index[n:]
            return (*index[:n], panel, j // SIDE, k, j % SIDE, t)

        def sum_index(*index: IntExpr) -> tuple:
            i, j = index[n:]
            return (*index[:n], i // SIDE, j // SIDE, i % SIDE, j % SIDE)

        if packed:
            sch.transform_layout(a, ("write", 0), packed_row_index, assume_injective_transform=True)
        else:
            lay_out(sch, a, what.left, what, row_index)
        sch.transform_layout(b, ("write", 0), group_index, assume_injective_transform=True)
        sch.transform_layout(self.block, ("write", 0), sum_index, assume_injective_transform=True)

    def _tensorize_copies(self, zeros: BlockHandle, a: BlockHandle, b: BlockHandle, sums: BlockHandle) -> None:
        sch, what = self.sch, self.what
        sch.tensorize(sch.get_loops(zeros)[-2], f"amx_tilezero_{what.dtype}")
        *_, rows, row, _ = sch.get_loops(a)
        sch.unroll(rows)
        sch.tensorize(row, f"amx_tileload_{what.left.dtype}")
        *_, columns, k, _, _ = sch.get_loops(b)
        sch.unroll(columns)
        sch.tensorize(k, f"amx_tileload_{what.right.dtype}_vnni")
        *_, rows, columns, row, _ = sch.get_loops(sums)
        sch.unroll(rows)
        sch.unroll(columns)
        sch.tensorize(row, f"amx_tilestore_{what.dtype}")
