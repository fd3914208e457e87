"""Packing for dot-product instructions and matrix units: operands in groups of adjacent terms of the sums."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import gcd, prod
from typing import TYPE_CHECKING

from tir_mlir.schedule import BlockHandle, LoopHandle, Schedule
from tir_mlir.schedules.block_queries import block_info, extent_of
from tir_mlir.schedules.products.contraction import Contraction, ContractionOperand
from tir_mlir.schedules.products.packing import SQUARE
from tir_mlir.schedules.steps import inline

if TYPE_CHECKING:
    from tir_mlir.dialect.symbolic import IntExpr
    from tir_mlir.schedule.info import BlockInfo


def copy_operand(sch: Schedule, block: BlockHandle, operand: ContractionOperand) -> BlockHandle:
    """The block that copies an operand: its padding block, else a new cache stage."""
    read = block_info(sch, block).reads[operand.position].buffer.name
    if read == operand.name:
        return sch.cache_read(block, operand.name, "global")
    return next(p for p in sch.get_producers(block) if read in map(str, block_info(sch, p).writes))


def is_rearrangement(sch: Schedule, block: BlockHandle) -> bool:
    """Whether a block computes each element from one of another array of its type, as patches of images: it may be
    computed where rows are read."""
    info = block_info(sch, block)
    (written, *others), kinds = info.writes, {it.kind for it in info.iter_vars}
    alone = len(info.reads) == 1 and not others and len(sch.get_consumers(block)) == 1
    return alone and kinds == {"S"} and info.reads[0].buffer.dtype == written.buffer.dtype


def computed_rows(
    sch: Schedule, operand: ContractionOperand, copy: BlockHandle | None, reader: BlockHandle | None = None
) -> BlockHandle | None:
    """The block that computes an operand from an array, for a product alone, such as patches of an image: it is inlined
    into the copy of the operand, if there is one, which then is returned. None if the operand is a parameter, or is
    computed otherwise. reader: what reads the operand where nothing copies it."""
    last = copy if copy is not None else reader
    if last is None:
        return None
    found = [p for p in sch.get_producers(last) if operand.name in map(str, block_info(sch, p).writes)]
    if len(found) != 1 or not is_rearrangement(sch, found[0]):
        return None
    if copy is None:
        return found[0]
    return copy if inline(sch, found[0]) else None


WIDE = 64
"""The most bytes that are copied at once."""
UNROLLED = 32
"""The most pieces of a row that are copied in an iteration of a loop: of a loop that copies one vector, LLVM
makes a call of memcpy, after which tiles of AMX are configured again."""


def vectorize_rows(sch: Schedule, copy: BlockHandle) -> None:
    """Vectorize the copy of rows of bytes, in pieces that are adjacent in what is read."""
    info, (*_, row) = block_info(sch, copy), sch.get_loops(copy)
    length = extent_of(sch, row)
    if length is not None:
        run = _adjacent(info, length)
        wide = max(n for n in range(1, WIDE + 1) if run % n == 0)
        together = max(n for n in range(1, UNROLLED + 1) if length // wide % n == 0)
        _, pieces, row = sch.split(row, [None, together, wide])
        sch.unroll(pieces)
    sch.vectorize(row)


def _adjacent(info: BlockInfo, length: int) -> int:
    """The longest pieces of a row that is copied, WIDE elements at most, whose elements are adjacent in what is read:
    of patches, channels of a pixel and of those beside it. Without constant shapes, a part of the channels."""
    read, sizes = info.reads[0], {it.name: it.dom.extent or 1 for it in info.iter_vars}
    last, (*_, row) = read.axes[-1], (it.name for it in info.iter_vars)
    source = (read.buffer.shape[-1] or 1) // prod(sizes[a] for a in last if a != row)
    if length <= source:
        return length
    steps = read.steps(row, length)
    if steps is None:
        return gcd(length, source)
    return max(
        n
        for n in range(1, WIDE + 1)
        if length % n == 0 and all(steps[i] == 1 for i in range(length - 1) if (i + 1) % n)
    )


def write_back_of(sch: Schedule, block: BlockHandle, what: Contraction) -> BlockHandle:
    """The block that writes the accumulators back to the result."""
    if what.out in map(str, block_info(sch, block).writes):
        return sch.cache_write(block, 0, "local")
    sch.set_scope(block, 0, "local")
    return sch.get_consumers(block)[0]


def pack_rows(
    sch: Schedule, packed: BlockHandle, what: Contraction, group: int, threads: int = 1, in_rows: bool = False
) -> None:
    """Pack the left operand with the reduction contiguous; transpose it in registers, by squares, if needed. in_rows:
    terms are adjacent in what is read, and copied in vectors."""
    lay_out_rows(sch, packed, what)
    copy_rows(sch, packed, what, group, threads)
    if in_rows and extent_of(sch, sch.get_loops(packed)[-1]) is not None:
        vectorize_rows(sch, packed)


def lay_out_rows(sch: Schedule, packed: BlockHandle, what: Contraction) -> None:
    """Lay out the copy of the left operand with the reduction contiguous."""
    lay_out(sch, packed, what.left, what, lambda pos: (pos(what.m), pos(what.k)))


def copy_rows(sch: Schedule, packed: BlockHandle, what: Contraction, group: int, threads: int = 1) -> None:
    """Copy the left operand into its rows, by squares in registers where it is transposed."""
    loops = dict(zip(what.left.axes, sch.get_loops(packed)[-len(what.left.axes) :], strict=True))
    rows = loops[what.m]
    if what.left.axes[-1] != what.k:
        (i_0, i_1), (k_0, k_1) = (sch.split(loops[a], [None, SQUARE]) for a in (what.m, what.k))
        sch.reorder(i_0, k_0, i_1, k_1)
        sch.unroll(i_1)
        if _is_full(what, what.k, group):
            sch.vectorize(k_1)
        rows = i_0
    if threads > 1:
        sch.parallel(rows)


def pack_row_groups(
    sch: Schedule, packed: BlockHandle, what: Contraction, height: int, group: int, threads: int
) -> None:
    """Pack the left operand into panels of `height` rows; within a panel, by groups of the reduction."""
    m, k = what.m, what.k
    lay_out(
        sch, packed, what.left, what, lambda pos: (pos(m) // height, pos(k) // group, pos(m) % height, pos(k) % group)
    )  # fmt: skip
    loops = dict(zip(what.left.axes, sch.get_loops(packed)[-len(what.left.axes) :], strict=True))
    (i_0, i_1), (k_0, k_1) = sch.split(loops[m], [None, height]), sch.split(loops[k], [None, group])
    in_rows = what.left.axes[-1] == k
    sch.reorder(i_0, k_0, *((i_1, k_1) if in_rows else (k_1, i_1)))
    sch.unroll(i_1 if in_rows else k_1)
    if _is_full(what, *((k, group) if in_rows else (m, height))):
        sch.vectorize(k_1 if in_rows else i_1)
    if threads > 1:
        sch.parallel(i_0)


def lay_out_tile(sch: Schedule, block: BlockHandle, what: Contraction, rows: int, columns: int) -> None:
    """Lay out the sums of a block in tiles of rows x columns, each adjacent."""
    (axes,) = (region.axes for region in block_info(sch, block).writes)
    m, n = axes.index((what.m,)), axes.index((what.n,))

    def layout(*index: IntExpr) -> tuple:
        others, (i, j) = [x for d, x in enumerate(index) if d not in (m, n)], (index[m], index[n])
        return (*others, i // rows, j // columns, i % rows, j % columns)

    sch.transform_layout(block, ("write", 0), layout, assume_injective_transform=True)


def pack_groups(sch: Schedule, packed: BlockHandle, what: Contraction, width: int, group: int, threads: int) -> None:
    """Pack the right operand into panels of `width` columns; within a panel, by groups of the reduction."""
    lay_out_groups(sch, packed, what, width, group)
    copy_groups(sch, packed, what, width, group, threads)


def read_groups(
    sch: Schedule, block: BlockHandle, what: Contraction, width: int, group: int, panels: LoopHandle | None
) -> BlockHandle:
    """Let a block read its right operand from a copy in panels, computed at the loop `panels`, default for all of them.
    Returns the copy."""
    packed = sch.cache_read(block, what.right.name, "global")
    if panels is not None:
        sch.compute_at(packed, panels, preserve_unit_loops=True)
    pack_groups(sch, packed, what, width, group, 1)
    return packed


def lay_out_groups(sch: Schedule, packed: BlockHandle, what: Contraction, width: int, group: int) -> None:
    """Lay out the copy of the right operand in panels."""
    n, k = what.n, what.k
    lay_out(
        sch, packed, what.right, what, lambda pos: (pos(n) // width, pos(k) // group, pos(n) % width, pos(k) % group)
    )  # fmt: skip


def copy_groups(sch: Schedule, packed: BlockHandle, what: Contraction, width: int, group: int, threads: int) -> None:
    """Copy the right operand into its panels, in the order of its memory.

    Zeros are written first, if it is padded: a copy without conditions is interleaved in registers.
    """
    n, k, depth = what.n, what.k, len(what.right.axes)
    first = sch.get_loops(packed)[-depth]
    if sch.can_decompose_padding(packed, first):
        _fill(sch, sch.decompose_padding(packed, first), what, width, group, threads)
    loops = dict(zip(what.right.axes, sch.get_loops(packed)[-depth:], strict=True))
    j_0, j_1 = sch.split(loops[n], [None, width])
    k_0, k_1 = sch.split(loops[k], [None, group])
    in_rows = what.right.axes[-1] == n
    first, second = (k_0, j_0) if in_rows else (j_0, k_0)
    if not in_rows and group > 1 and _is_full(what, k, group):  # each is adjacent in what is read: it is moved as one
        sch.reorder(first, second, j_1, k_1)
        sch.vectorize(k_1)
    else:
        sch.reorder(first, second, k_1, j_1)
        sch.unroll(k_1)  # the rows of a group, interleaved in registers
        if in_rows or _is_full(what, n, width):
            sch.vectorize(j_1)
    if threads > 1:
        sch.parallel(first)


def _fill(sch: Schedule, zeros: BlockHandle, what: Contraction, width: int, group: int, threads: int) -> None:
    """Write the zeros of padded panels, in the order of memory."""
    loops = dict(zip(what.right.axes, sch.get_loops(zeros)[-len(what.right.axes) :], strict=True))
    j_0, j_1 = sch.split(loops[what.n], [None, width])
    k_0, k_1 = sch.split(loops[what.k], [None, group])
    sch.reorder(j_0, k_0, j_1, k_1)
    if threads > 1:
        sch.parallel(j_0)


def _is_full(what: Contraction, axis: str, width: int) -> bool:
    """Whether an axis has no padding: a vector that is partly padding needs lanes that are adjacent in memory."""
    return (what.extent(axis) or 1) % width == 0


def lay_out(
    sch: Schedule, packed: BlockHandle, operand: ContractionOperand, what: Contraction, order: Callable[..., tuple]
) -> None:
    """Transform the layout of a copy: batch axes first, then the indices that `order` returns."""
    position_of = operand.axes.index

    def layout(*index: IntExpr) -> tuple:
        return (*(index[position_of(a)] for a in what.batch), *order(lambda axis: index[position_of(axis)]))

    sch.transform_layout(packed, ("write", 0), layout, assume_injective_transform=True)


def vectorize_tile(sch: Schedule, loops: Sequence[LoopHandle]) -> None:
    """Vectorize and unroll the loops (rows, vectors, lanes) that fill or copy a tile."""
    rows, vectors, lanes = loops
    sch.unroll(rows)
    sch.unroll(vectors)
    sch.vectorize(lanes)
