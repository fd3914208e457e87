"""Schedule for int8 and int16 matrix products with int32 accumulators, by dot-product instructions."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import Any

from tir_mlir.dialect.diagnostics import ScheduleError
from tir_mlir.intrin.dot_products import Dot, dot_product, is_shifted
from tir_mlir.schedule import Schedule
from tir_mlir.schedules.block_queries import block_info
from tir_mlir.schedules.products.contraction import Contraction, Operand
from tir_mlir.schedules.products.packing import SQUARE, exceeds_l2
from tir_mlir.target import Target

TYPICAL = 1 << 10
"""The assumed value of a symbolic extent."""
FEW_ROWS = 4
"""The minimum number of rows for packing to pay off."""
REUSE = 16
"""The minimum number of tiles that use a panel of the right operand while it is in cache."""


@dataclass(frozen=True)
class Tile:
    """rows x vectors: register tile of accumulators; block: number of rows whose left operand fits in L2."""

    rows: int
    vectors: int
    block: int


def dot_for(what: Contraction, target: Target) -> Dot | None:
    """The dot-product instruction for a product; None if the general schedule applies (other types, or few rows)."""
    if what.dtype != "int32" or (what.extent(what.m) or TYPICAL) < FEW_ROWS:
        return None
    return dot_product(target, what.left.dtype, what.right.dtype)


def integer_gemm(sch: Schedule, block: Any, what: Contraction, dot: Dot, target: Target, threads: int) -> bool:
    """Schedule an int8 or int16 product with int32 accumulators. Returns False, unchanged, if it cannot be padded.

        for i, j, k in T.grid(m, n, k):                 pack B[j_0, k_0, j_1, k_1]
            with T.block("C"):                          for i_0 (parallel): pack A[i, k]
                C += int32(A) * int32(B)        ->          for j_0, i_1, k_0: a tile of C in registers, row by row:
                                                                dot product of lanes x group
                                                            C = the tile

    The instruction reduces `group` adjacent elements, so both operands are packed in such groups, converted to its
    operand type, and padded with zeros to full groups and vectors. Exact, as int32 arithmetic is. A reduction of
    symbolic extent cannot be padded, as it may be empty.
    """
    block = sch.get_block(block) if isinstance(block, str) else block
    plan = tile(what, dot, target, threads)
    padding = {what.n: plan.vectors * dot.lanes, what.k: dot.group}
    try:
        sch.pad_einsum(block, [padding.get(axis, 1) for axis in what.extents])
    except ScheduleError:
        return False
    right = _copy(sch, block, what.right)
    left, sums = _left_copy(sch, block, what, dot)
    write_back = _write_back(sch, block, what)
    batch, i_0, i_1, i_2, j_1, j_2, k_0 = _tiled(sch, block, what, plan, dot)
    sch.reverse_compute_at(write_back, i_1, preserve_unit_loops=True)
    for packed, dtype in ((left, dot.left_dtype), (right, dot.dtype)):
        sch.unsafe_set_dtype(packed, 0, dtype)  # it represents every value of the operand
    sch.compute_at(left, i_0, preserve_unit_loops=True)
    if batch:
        for producer in (right,) if sums is None else (sums, right):
            sch.compute_at(producer, batch[-1], preserve_unit_loops=True)
    _pack_left(sch, left, what, dot.group)
    _pack_right(sch, right, what, plan.vectors * dot.lanes, dot.group, threads)
    if sums is not None:
        _sum_columns(sch, sums, plan, dot, threads)
    sch.unroll(i_2)
    sch.unroll(j_1)
    start = sch.decompose_reduction(block, k_0)
    sch.tensorize(j_2, dot.name)
    _vectorize_tile(sch, sch.get_loops(start)[-3:])
    *_, rows, row = sch.get_loops(write_back)
    _vectorize_tile(sch, [rows, *sch.split(row, [None, dot.lanes])])
    if exceeds_l2(what, target):
        sch.annotate(i_1, "prefetch", what.out)
    if threads > 1:
        sch.parallel(i_0)
    return True


def tile(what: Contraction, dot: Dot, target: Target, threads: int) -> Tile:
    """Choose the tile with the fewest cycles, assuming two multiplies and two loads per cycle."""
    m, n, k = (what.extent(a) or TYPICAL for a in (what.m, what.n, what.k))

    def cycles(rows: int, vectors: int) -> tuple[float, int]:
        tiles = ceil(m / rows) * ceil(n / (vectors * dot.lanes))
        return tiles * (0.5 + max(rows * vectors, rows + vectors) / 2), -rows * vectors

    fits = [
        (rows, vectors)
        for vectors in range(1, 5)
        for rows in range(1, target.registers)
        if rows * vectors + vectors + 1 + dot.spare <= target.registers
    ]
    rows, vectors = min(fits, key=lambda f: cycles(*f))
    most = max(rows * REUSE, target.l2 // 2 // (k * dot.bits // 8))
    block = ceil(m / (ceil(m / (most * threads)) * threads))  # the same number of blocks per thread
    return Tile(rows, vectors, ceil(block / rows) * rows)


def _copy(sch: Schedule, block: Any, operand: Operand) -> Any:
    """The block that copies an operand: its padding block, else a new cache stage."""
    read = block_info(sch, block).reads[operand.place].buffer.name
    if read == operand.name:
        return sch.cache_read(block, operand.name, "global")
    return next(p for p in sch.get_producers(block) if read in map(str, block_info(sch, p).writes))


def _left_copy(sch: Schedule, block: Any, what: Contraction, dot: Dot) -> tuple[Any, Any]:
    """The block that copies the left operand; if that shifts it, also the one that sums the columns of the right."""
    if not is_shifted(dot, what.left.dtype):
        return _copy(sch, block, what.left), None
    read = block_info(sch, block).reads[what.left.place].buffer.name
    padding = [p for p in sch.get_producers(block) if read in map(str, block_info(sch, p).writes)]
    left, sums = sch.shift_operand(block, read)
    for producer in padding:
        sch.compute_inline(producer)
    return left, sums


def _sum_columns(sch: Schedule, sums: Any, plan: Tile, dot: Dot, threads: int) -> None:
    """Sum the columns of the packed right operand, a panel at a time, in registers."""
    write_back = sch.cache_write(sums, 0, "local")
    *_, j, k = sch.get_loops(sums)
    j_0, j_1, j_2 = sch.split(j, [None, plan.vectors, dot.lanes])
    k_0, k_1 = sch.split(k, [None, dot.group])
    sch.reorder(j_0, k_0, j_1, j_2, k_1)
    sch.reverse_compute_at(write_back, j_0, preserve_unit_loops=True)
    sch.unroll(j_1)
    start = sch.decompose_reduction(sums, k_0)
    sch.tensorize(j_2, dot.sum_name)
    *_, columns = sch.get_loops(write_back)
    for vectors, lanes in (sch.get_loops(start)[-2:], sch.split(columns, [None, dot.lanes])):
        sch.unroll(vectors)
        sch.vectorize(lanes)
    if threads > 1:
        sch.parallel(j_0)


def _write_back(sch: Schedule, block: Any, what: Contraction) -> Any:
    """The block that writes the accumulators back to the result."""
    if what.out in map(str, block_info(sch, block).writes):
        return sch.cache_write(block, 0, "local")
    sch.set_scope(block, 0, "local")
    return sch.get_consumers(block)[0]


def _tiled(sch: Schedule, block: Any, what: Contraction, plan: Tile, dot: Dot) -> tuple[Any, ...]:
    """Tile the block. Returns the loops: batch, i_0, i_1, i_2, j_1, j_2, k_0."""
    by_name = dict(zip(what.extents, sch.get_loops(block), strict=True))
    batch = [by_name[a] for a in what.batch]
    i_0, i_1, i_2 = sch.split(by_name[what.m], [None, plan.block // plan.rows, plan.rows])
    j_0, j_1, j_2 = sch.split(by_name[what.n], [None, plan.vectors, dot.lanes])
    k_0, k_1 = sch.split(by_name[what.k], [None, dot.group])
    sch.reorder(*batch, i_0, j_0, i_1, k_0, i_2, j_1, j_2, k_1)
    return batch, i_0, i_1, i_2, j_1, j_2, k_0


def _pack_left(sch: Schedule, packed: Any, what: Contraction, group: int) -> None:
    """Lay out the left operand with the reduction contiguous; transpose it in registers, by squares, if needed."""
    _lay_out(sch, packed, what.left, what, lambda at: (at(what.m), at(what.k)))
    if what.left.axes[-1] != what.k:
        loops = dict(zip(what.left.axes, sch.get_loops(packed)[-len(what.left.axes) :], strict=True))
        (i_0, i_1), (k_0, k_1) = (sch.split(loops[a], [None, SQUARE]) for a in (what.m, what.k))
        sch.reorder(i_0, k_0, i_1, k_1)
        sch.unroll(i_1)
        if _is_full(what, what.k, group):
            sch.vectorize(k_1)


def _pack_right(sch: Schedule, packed: Any, what: Contraction, width: int, group: int, threads: int) -> None:
    """Lay out the right operand in panels of `width` columns; within a panel, by groups of the reduction."""
    n, k = what.n, what.k
    _lay_out(
        sch, packed, what.right, what, lambda at: (at(n) // width, at(k) // group, at(n) % width, at(k) % group)
    )  # fmt: skip
    loops = dict(zip(what.right.axes, sch.get_loops(packed)[-len(what.right.axes) :], strict=True))
    j_0, j_1 = sch.split(loops[n], [None, width])
    k_0, k_1 = sch.split(loops[k], [None, group])
    sch.reorder(j_0, k_0, k_1, j_1)
    sch.unroll(k_1)  # the rows of a group, interleaved in registers
    if what.right.axes[-1] == n or _is_full(what, n, width):
        sch.vectorize(j_1)
    if threads > 1:
        sch.parallel(j_0)


def _is_full(what: Contraction, axis: str, width: int) -> bool:
    """Whether an axis has no padding: a vector that is partly padding needs lanes that are adjacent in memory."""
    return (what.extent(axis) or 1) % width == 0


def _lay_out(sch: Schedule, packed: Any, operand: Operand, what: Contraction, order: Any) -> None:
    """Transform the layout of a copy: batch axes first, then the indices that `order` returns."""
    at = operand.axes.index

    def layout(*index: Any) -> tuple:
        return (*(index[at(a)] for a in what.batch), *order(lambda axis: index[at(axis)]))

    sch.transform_layout(packed, ("write", 0), layout, assume_injective_transform=True)


def _vectorize_tile(sch: Schedule, loops: Any) -> None:
    """Vectorize and unroll the loops (rows, vectors, lanes) that fill or copy a tile."""
    rows, vectors, lanes = loops
    sch.unroll(rows)
    sch.unroll(vectors)
    sch.vectorize(lanes)
