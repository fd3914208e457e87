"""Schedule for depthwise convolutions of 8 bits whose rows are in groups, by dot products of lanes."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from tir_mlir.intrin.dot_products import Dot, dot_of_lanes, is_shifted
from tir_mlir.schedule import BlockHandle, Schedule
from tir_mlir.schedules.block_queries import block_info, even_tile, loops_by_iter
from tir_mlir.schedules.convolutions.convolution import Convolution
from tir_mlir.schedules.products.grouped_packing import is_rearrangement
from tir_mlir.schedules.steps import attempt, merge_epilogue
from tir_mlir.target import Target

MOST_PIXELS = 7
"""The maximum number of pixels of a tile, which share weights and columns of the image."""
STACK = 16 << 10
"""The most bytes of a copy, those that are on the stack: of longer rows, what a tile reads is copied just before it."""
MOST_UNROLLED = 256
"""The maximum number of dot products of a tile that are unrolled."""
ADJACENT = {4: 16, 8: 8, 16: 64}
"""Channels whose bytes are interleaved at once, by the lanes of a register: as many as take the fewest instructions for
each. Registers of 256 bits have no instruction for bytes of both halves."""


@dataclass(frozen=True)
class RowsInGroups:
    """What sums the rows of a group for each channel, and the block that copies an image so that they are adjacent;
    group: the iter over them."""

    dot: Dot
    copy: BlockHandle
    group: str


def rows_in_groups(sch: Schedule, block: BlockHandle, what: Convolution, target: Target) -> RowsInGroups | None:
    """The dot product of lanes that sums a group of rows for each channel, and the block that copies the image so that
    those of a group are adjacent; None if a convolution has no such image, or its channels do not fill the vectors."""
    if what.dtype != "int32" or len(what.result) < 3:
        return None
    info, (*_, channel) = block_info(sch, block), what.result
    inputs = [r for r in info.reads if str(r) not in map(str, info.writes)]
    image = next((r for r in inputs if r.axes[-2:-1] == ((channel,),) and what.result[-3:-2] in r.axes), None)
    if image is None or len(image.axes[-1]) != 1 or any(r.axes[-1] != image.axes[-1] for r in inputs):
        return None
    (weights,) = (r for r in inputs if r is not image)
    dot = dot_of_lanes(target, image.buffer.dtype, weights.buffer.dtype)
    copies = [p for p in sch.get_producers(block) if str(image) in map(str, block_info(sch, p).writes)]
    if dot is None or is_shifted(dot, image.buffer.dtype) or len(copies) != 1 or not is_rearrangement(sch, copies[0]):
        return None
    fits = what.extents[image.axes[-1][0]] == dot.group and (what.extents[channel] or 1) % dot.lanes == 0
    return RowsInGroups(dot, copies[0], image.axes[-1][0]) if fits and what.extents[what.result[-2]] else None


def depthwise_dots(
    sch: Schedule,
    block: BlockHandle,
    what: Convolution,
    groups: RowsInGroups,
    target: Target,
    epilogue: BlockHandle | None = None,
) -> bool:
    """Schedule a depthwise convolution by dot products of lanes. Returns False, unchanged, if that is impossible.

        for h, g, w, c, r:                             for h, c_0:
            Q[h, g, w, c, r] = X[h + 4 g + r, w, c]        for g, w: Q[g, w, c_1, 0:4] = 4 rows, interleaved
        for h, w, c, g, x, r:                      ->      for w_0, c_1, g, x:
            Y[h, w, c] += Q[h, g, w + x, c, r]                 a tile of Y in registers: dot products of lanes
                * W[g, x, c, r]                            Y = the tile

    So each byte of the image is put beside those below it once for all columns of the window, in registers, and four
    products are summed by an instruction.
    """
    return bool(attempt(sch, lambda: _schedule(sch, block, what, groups, target, epilogue)))


def _schedule(
    sch: Schedule,
    block: BlockHandle,
    what: Convolution,
    groups: RowsInGroups,
    target: Target,
    epilogue: BlockHandle | None,
) -> bool:
    dot, copy, group = groups.dot, groups.copy, groups.group
    by_name = loops_by_iter(sch, block)
    *outer, w, c = (by_name[a] for a in what.result)
    sums = [by_name[a] for a in what.extents if a not in what.result and a != group and a in by_name]
    window = prod(what.extents[a] or 1 for a in what.sums if a != group)
    row, channels = what.extents[what.result[-2]] or 1, what.extents[what.result[-1]] or 1
    pixels = even_tile(row, MOST_PIXELS)
    most = ADJACENT.get(dot.lanes, dot.lanes) // dot.lanes
    vectors = next(v for v in range(most, 0, -1) if channels % (v * dot.lanes) == 0)
    w_0, w_1 = sch.split(w, [None, pixels])
    c_0, c_1, c_2 = sch.split(c, [None, vectors, dot.lanes])
    sch.reorder(*outer, c_0, w_0, c_1, *sums, w_1, c_2, by_name[group])
    write_back = sch.cache_write(block, 0, "local")
    merge_epilogue(sch, write_back, epilogue)
    sch.reverse_compute_at(write_back, c_1, preserve_unit_loops=True)
    sch.set_scope(copy, 0, "local")
    whole_rows = _bytes_of_channel(sch, copy) * vectors * dot.lanes <= STACK
    sch.compute_at(copy, c_0 if whole_rows else w_0, preserve_unit_loops=True)
    _interleave(sch, copy)
    start = sch.decompose_reduction(block, sums[0])
    for loop in (*sums[1:], w_1) if window * pixels <= MOST_UNROLLED else [w_1]:
        sch.unroll(loop)
    sch.tensorize(c_2, dot.lanes_name)
    for part in (start, write_back):
        *_, rows, lanes = sch.get_loops(part)
        sch.unroll(rows)
        sch.vectorize(lanes)
    return True


def _bytes_of_channel(sch: Schedule, copy: BlockHandle) -> int:
    """The bytes of a channel in what is copied for a row of the result; those of symbolic width do not fit."""
    *_, groups, width, _, each = block_info(sch, copy).writes[0].buffer.shape
    return (groups or 1) * (width or STACK) * (each or 1)


def _interleave(sch: Schedule, copy: BlockHandle) -> None:
    """Copy rows of channels, those of a group interleaved in registers."""
    *_, channels, group = sch.get_loops(copy)
    sch.reorder(group, channels)
    sch.unroll(group)
    sch.vectorize(channels)
