"""Schedules for products of few rows: with a dequantised matrix, and of int8 by dot-product instructions."""

from __future__ import annotations

from math import ceil

from tir_mlir.intrin.dot_products import dot_of_lanes
from tir_mlir.schedule import BlockHandle, Schedule
from tir_mlir.schedules.block_queries import LARGE, block_info, even_tile, loops_by_iter
from tir_mlir.schedules.free_choice import Free
from tir_mlir.schedules.products.contraction import Contraction, num_elements
from tir_mlir.schedules.products.dequantization import LaneSplit, is_along, lane_split, shared_steps, source
from tir_mlir.schedules.products.tile_sizes import STREAMS, RegisterTile, register_tile
from tir_mlir.schedules.products.unpacked_weights import (
    DEQUANTIZE,
    StoredOrder,
    UnpackedProduct,
    unpacked_tile,
    unpacking,
)
from tir_mlir.schedules.steps import give_reasons, place_epilogue
from tir_mlir.target import Target

FEW_ROWS = 64
"""The maximum number of rows: with more, it pays off to transpose the matrix."""


def few_rows_dots(
    sch: Schedule, block: BlockHandle, what: Contraction, producer: BlockHandle, target: Target, threads: int
) -> bool:
    """Schedule a product of few rows of int8 with a matrix that a block unpacks from bytes, see `UnpackedProduct`.
    Returns False, unchanged, if no instruction computes it, or the order of the weights does not fill its vectors.

    The weights of a byte are unrolled, so that their shifts are constants. Sums are exact, as int32 arithmetic is:
    where the instruction takes unsigned weights, 128 times the sums of A are subtracted, see `shift_operand`.
    """
    dot = dot_of_lanes(target, what.right.dtype, what.left.dtype) if what.plain and what.dtype == "int32" else None
    order = _stored_order(sch, what, producer, dot.lanes * dot.group, dot.group) if dot else None
    if dot is None or order is None or order.shared == 1:
        return False
    tile = unpacked_tile(what, order, target, dot.bits, dot.spare)
    give_reasons(sch, what.out, tile.why)
    UnpackedProduct(sch, block, what, producer, dot, order, tile, threads).run()
    return True


def unpacked_gemm(
    sch: Schedule, block: BlockHandle, what: Contraction, producer: BlockHandle, target: Target, threads: int,
    epilogue: BlockHandle | None = None,
) -> bool:  # fmt: skip
    """Schedule a product of numbers with a matrix that a block dequantises, if it pays off to do so once for many rows,
    see `UnpackedProduct`. Returns False, unchanged, if it does not, or if the order of the weights fills no vectors."""
    lanes = target.lanes(what.bits)
    order = _stored_order(sch, what, producer, lanes, 1) if what.plain and lanes > 1 else None
    tile = unpacked_tile(what, order, target, what.bits) if order else None
    if order is None or tile is None or not tile.block:
        return False
    give_reasons(sch, what.out, tile.why)
    UnpackedProduct(sch, block, what, producer, None, order, tile, threads).run(epilogue)
    return True


def _stored_order(
    sch: Schedule, what: Contraction, producer: BlockHandle, width: int, group: int
) -> StoredOrder | None:
    """The order of weights in bytes, if it fills vectors of `width` bytes."""
    k, rows = what.extent(what.k), what.extent(what.m)
    if k is None or rows is None or what.batch or not is_along(sch, producer, what.right, what.k):
        return None
    distance, shared = shared_steps(source(block_info(sch, producer)))
    order = StoredOrder(distance or 1, shared, width, group)
    return order if order.is_full and k % order.block == 0 else None


def few_rows_gemm(
    sch: Schedule,
    block: BlockHandle,
    what: Contraction,
    target: Target,
    threads: int,
    free: Free,
    epilogue: BlockHandle | None = None,
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
    matrix = max(
        (r for r in block_info(sch, block).reads if str(r) not in (what.left.name, what.out)),
        key=lambda r: num_elements(r.buffer),
    )
    plan = lane_split(matrix, target.lanes(what.bits))
    _spread(sch, block, what, plan)
    parts = sch.rfactor(sch.split(loops[what.k], plan.factors)[plan.lanes], len(what.batch) + 2)
    i, j, *steps = sch.get_loops(parts)[len(what.batch) :]
    lanes, inner = steps[plan.lanes], [] if plan.shared is None else [steps[plan.shared]]
    k_0, *between = (x for n, x in enumerate(steps) if n not in (plan.lanes, plan.shared))
    m, n = (what.extent(a) or LARGE for a in (what.m, what.n))
    tile = register_tile(m, n, 1, target, unpacking(1, 2, DEQUANTIZE))
    give_reasons(sch, what.out, () if free else [tile.why])
    mr, nr = _free_tile(free, what, target, tile)
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


def _spread(sch: Schedule, block: BlockHandle, what: Contraction, plan: LaneSplit) -> None:
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


def _free_tile(free: Free, what: Contraction, target: Target, tile: RegisterTile) -> tuple[int, int]:
    """Rows and columns of the tile, sampled if they are free."""
    mr, nr = tile.rows, free.choice("tile_columns", range(1, STREAMS + 1), tile.vectors)
    most = max(1, min(STREAMS, (target.registers - 2 - nr) // nr))
    return free.choice("tile_rows", range(1, min(most, what.extent(what.m) or LARGE) + 1), min(mr, most)), nr
