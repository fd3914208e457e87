"""Schedule for products of few rows with a dequantised matrix that is contiguous along the sum."""

from __future__ import annotations

from math import ceil
from typing import Any

from tir_mlir.schedule import Schedule
from tir_mlir.schedules.block_queries import block_info, loops_by_iter
from tir_mlir.schedules.even_tiles import LARGE, even_tile
from tir_mlir.schedules.free_choice import Free
from tir_mlir.schedules.products.contraction import Contraction, num_elements
from tir_mlir.schedules.products.dequantized import LaneSplit, lane_split
from tir_mlir.schedules.products.epilogue import place_epilogue
from tir_mlir.schedules.products.tile_sizes import STREAMS
from tir_mlir.target import Target

FEW_ROWS = 64
"""The maximum number of rows: with more, it pays off to transpose the matrix."""
UNPACK = 5
"""Instructions that dequantise a vector."""


def few_rows_gemm(
    sch: Schedule, block: Any, what: Contraction, target: Target, threads: int, free: Free, epilogue: Any | None = None
) -> None:
    """Schedule a product of few rows whose right operand the block dequantises itself.

        for i, j, k in T.grid(m, n, k):                    for j_0 (parallel), i_0:
            with T.block("C"):                     ->          for k_0: dequantise vectors of W[j_0, k_0],
                C += A[i, k] * W(Q[j, k], ..)                      a tile of vectors of partial sums += A * W
                                                               C tile = sums of the vectors

    A vector of W is dequantised once for the rows of a tile, and nothing is packed or transposed.
    """
    loops = loops_by_iter(sch, block)
    sch.reorder(*(loops[a] for a in (*what.batch, what.m, what.n, what.k)))
    matrix = max((r for r in block_info(sch, block).reads if not _is(r, what)), key=lambda r: num_elements(r.buffer))
    plan = lane_split(matrix, target.lanes(what.bits))
    _spread(sch, block, what, plan)
    parts = sch.rfactor(sch.split(loops[what.k], plan.factors)[plan.lanes], len(what.batch) + 2)
    i, j, *steps = sch.get_loops(parts)[len(what.batch) :]
    lanes, inner = steps[plan.lanes], [] if plan.shared is None else [steps[plan.shared]]
    k_0, *between = (x for n, x in enumerate(steps) if n not in (plan.lanes, plan.shared))
    mr, nr = _free_tile(free, what, target)
    i_0, i_1 = sch.split(i, [None, mr])
    piece = even_tile(what.extent(what.n) or LARGE, LARGE, nr, threads)
    j_0, j_1, j_2 = sch.split(j, [None, ceil(piece / nr), nr])
    sch.reorder(j_0, j_1, i_0, k_0, *between, *inner, i_1, j_2, lanes)
    sch.reverse_compute_at(block, i_0)
    sch.set_scope(parts, 0, "local")
    for loop in (*inner, i_1, j_2):
        sch.unroll(loop)
    sch.vectorize(lanes)
    *_, rows, columns, lanes = sch.get_loops(sch.decompose_reduction(parts, k_0))
    sch.unroll(rows)
    sch.unroll(columns)
    sch.vectorize(lanes)
    place_epilogue(sch, epilogue, j_0)
    if threads > 1:
        sch.parallel(j_0)


def _spread(sch: Schedule, block: Any, what: Contraction, plan: LaneSplit) -> None:
    """If adjacent values share an element, copy the left operand with the values of a vector adjacent."""
    if plan.shared is None or plan.shared < plan.lanes:
        return
    _, lanes, shared = (factor or 1 for factor in plan.factors)
    k = what.left.axes.index(what.k)
    copy = sch.cache_read(block, what.left.name, "global")
    sch.transform_layout(
        copy, ("write", 0),
        lambda *i: (*i[:k], i[k] // (lanes * shared), i[k] % shared, i[k] // shared % lanes, *i[k + 1 :]),
        assume_injective_transform=True,
    )  # fmt: skip


def _is(read: str, what: Contraction) -> bool:
    return str(read) in (what.left.name, what.out)


def _free_tile(free: Free, what: Contraction, target: Target) -> tuple[int, int]:
    """Rows and columns of the tile, sampled if they are free."""
    mr, nr = _tile(what, target)
    nr = free.choice("tile_columns", range(1, STREAMS + 1), nr)
    most = max(1, min(STREAMS, (target.registers - 2 - nr) // nr))
    return free.choice("tile_rows", range(1, min(most, what.extent(what.m) or LARGE) + 1), min(mr, most)), nr


def _tile(what: Contraction, target: Target) -> tuple[int, int]:
    """Rows and columns of the tile with the fewest instructions, whose accumulators, one vector of each column and one
    of a row fit in registers."""
    m, n = (what.extent(a) or LARGE for a in (what.m, what.n))

    def cost(tile: tuple[int, int]) -> float:
        rows, columns = tile
        return ceil(m / rows) * ceil(n / columns) * (rows * columns + rows + UNPACK * columns)

    fits = [
        (rows, columns)
        for rows in range(1, STREAMS + 1)
        for columns in range(1, STREAMS + 1)
        if rows * columns + columns + 2 <= target.registers
    ]
    return min(fits, key=cost)
