"""A product of one tile of rows by dot products of adjacent terms, as a stage among others that share the tile."""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd
from typing import TYPE_CHECKING

from tir_mlir.intrin.dot_products import Dot, dot_product
from tir_mlir.schedule import BlockHandle, LoopHandle, Schedule
from tir_mlir.schedules.products.contraction import Contraction
from tir_mlir.schedules.products.grouped_packing import read_groups
from tir_mlir.target import Target

if TYPE_CHECKING:
    from tir_mlir.dialect.symbolic import IntExpr

VECTORS = 2
"""Vectors of a row of a tile of sums."""
ROWS = 8
"""The most rows of a tile of sums: of more than 16 vectors, products are slower (see gemm_dots)."""


def stage_dot(what: Contraction, target: Target) -> Dot | None:
    """The dot product for a product of short floats; None without one, and unless columns and terms are whole vectors
    and groups: nothing is padded."""
    if not what.plain or what.bits != 32 or what.left.axes[-1] != what.k:
        return None
    dot = dot_product(target, what.left.dtype, what.right.dtype, what.dtype)
    n, k = what.extent(what.n) or 1, what.extent(what.k) or 1
    if dot is None or (what.left.dtype, what.right.dtype) != (dot.left_dtype, dot.dtype):
        return None
    return dot if fills_vectors(dot, n, k) else None


def fills_vectors(dot: Dot, columns: int, terms: int) -> bool:
    """Whether a result of so many columns, sums of so many terms, fills the vectors of a dot product."""
    return columns % dot.lanes == 0 and terms % dot.group == 0


@dataclass(frozen=True)
class DotStage:
    """A product of a tile of rows, of which `sums` copies what is summed in registers to memory.

    for i, j, k in T.grid(32, n, k):             for j_0, i_0: 8 x 2 vectors of zeros
        with T.block("S"): S += Q * K     ->         for k_0: 8 x 2 dot products of pairs
                                                     S = the vectors
    """

    what: Contraction
    dot: Dot
    block: BlockHandle
    sums: BlockHandle
    rows: int
    width: int

    def place(self, sch: Schedule) -> None:
        """Compute the product for each tile of registers of the sums, whose copy is computed at the tile of rows."""
        i, j_0, j_1 = sch.get_loops(self.sums)[-3:]
        i_0, i_1 = sch.split(i, [None, self.rows])
        sch.reorder(j_0, i_0, i_1, j_1)
        sch.compute_at(self.block, i_0, preserve_unit_loops=True)

    def schedule(self, sch: Schedule, panels: LoopHandle | None) -> None:
        """Schedule it where it is placed; the right operand is packed at the loop `panels`, the left one is read where
        it is."""
        what, dot, block = self.what, self.dot, self.block
        read_groups(sch, block, what, self.width, dot.group, panels)
        i_1, j_1 = sch.get_loops(self.sums)[-2:]
        i, j, k_0, k_1 = sch.get_loops(block)[-4:]
        j_v, j_l = sch.split(j, [None, dot.lanes])
        sch.reorder(k_0, i, j_v, j_l, k_1)
        for loop in (i, j_v, i_1):
            sch.unroll(loop)
        zeros = sch.decompose_reduction(block, k_0)
        *_, lanes = sch.get_loops(zeros)
        for loop in (lanes, j_1):
            sch.vectorize(loop)
        sch.tensorize(j_l, dot.name)


def dot_stage(sch: Schedule, block: BlockHandle, what: Contraction, dot: Dot, rows: int) -> DotStage:
    """Split the terms of a product into groups and its sums into vectors, before it is computed at a tile of rows: what
    ends inside of the columns then ends between vectors."""
    width = gcd(what.extent(what.n) or 1, VECTORS * dot.lanes)
    sums = sch.cache_write(block, 0, "local")
    position_of = list(what.extents).index
    n = len(what.batch)

    def term_index(*index: IntExpr) -> tuple:
        *batch, i, j, k = (index[position_of(a)] for a in (*what.batch, what.m, what.n, what.k))
        return (*batch, i, j, k // dot.group, k % dot.group)

    def sum_index(*index: IntExpr) -> tuple:
        i, j = index[n:]
        return (*index[:n], i, j // width, j % width)

    sch.transform_block_layout(block, term_index)
    sch.transform_block_layout(sums, sum_index)
    return DotStage(what, dot, block, sums, gcd(rows, ROWS), width)
