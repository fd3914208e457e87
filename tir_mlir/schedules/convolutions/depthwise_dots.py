"""Schedule for depthwise convolutions of 8 bits whose rows are in groups, by dot products of lanes."""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd, prod

from tir_mlir.intrin.dot_products import Dot, dot_of_lanes, is_shifted
from tir_mlir.passes.lower.memory.allocs import STACK_BUFFER
from tir_mlir.schedule import BlockHandle, Schedule
from tir_mlir.schedules.block_queries import block_info, even_tile, loops_by_iter
from tir_mlir.schedules.convolutions.convolution import Convolution
from tir_mlir.schedules.products.grouped_packing import is_rearrangement
from tir_mlir.schedules.steps import attempt, merge_epilogue
from tir_mlir.target import Target

MOST_PIXELS = 7
"""The maximum number of pixels of a tile, which share weights and columns of the image."""
MOST_UNROLLED = 256
"""The maximum number of dot products of a tile that are unrolled."""
ADJACENT = {4: 16, 8: 8, 16: 64}
"""Channels whose bytes are interleaved at once, by the lanes of a register: as many as take the fewest instructions for
each. Registers of 256 bits have no instruction for bytes of both halves."""
TOGETHER = 16
"""Results of a pixel that are rounded and written together, as bytes of a register of 128 bits: those of one register
of sums are fewer where that has 4 lanes."""
BESIDE = 4
"""Registers that are not for sums or weights."""
MOST_STEPS = 4
"""The maximum number of tiles along the channels, for which rows are copied at once."""


@dataclass(frozen=True)
class RowsInGroups:
    """What sums the rows of a group for each channel, and the block that copies an image so that they are adjacent;
    group: the iter over them. image: what it writes; shifted: whether the instruction takes it with the other sign."""

    dot: Dot
    copy: BlockHandle
    group: str
    image: str
    shifted: bool


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
    if dot is None or len(copies) != 1 or not is_rearrangement(sch, copies[0]):
        return None
    group, shifted = image.axes[-1][0], is_shifted(dot, image.buffer.dtype)
    fits = what.extents[group] == dot.group and (what.extents[channel] or 1) % dot.lanes == 0
    fits = fits and what.extents[what.result[-2]] is not None
    return RowsInGroups(dot, copies[0], group, str(image), shifted) if fits else None


def depthwise_dots(
    sch: Schedule,
    block: BlockHandle,
    what: Convolution,
    groups: RowsInGroups,
    target: Target,
    epilogue: BlockHandle | None = None,
) -> BlockHandle | None:
    """Schedule a depthwise convolution by dot products of lanes. Returns the block that copies the image; None,
    unchanged, if that is impossible.

        for h, g, w, c, r:                             for h, c_0:
            Q[h, g, w, c, r] = X[h + 4 g + r, w, c]        for g, w: Q[g, w, c_1, 0:4] = 4 rows, interleaved
        for h, w, c, g, x, r:                      ->      for w_0, c_1, g, x:
            Y[h, w, c] += Q[h, g, w + x, c, r]                 a tile of Y in registers: dot products of lanes
                * W[g, x, c, r]                            Y = the tile

    So each byte of the image is put beside those below it once for all columns of the window, in registers, and four
    products are summed by an instruction. One that takes the image with the other sign starts from sums of the weights.
    """
    return attempt(sch, lambda: _schedule(sch, block, what, groups, target, epilogue))


def _schedule(
    sch: Schedule,
    block: BlockHandle,
    what: Convolution,
    groups: RowsInGroups,
    target: Target,
    epilogue: BlockHandle | None,
) -> BlockHandle:
    dot, group = groups.dot, groups.group
    copy, shift = sch.shift_operand(block, groups.image) if groups.shifted else (groups.copy, None)
    if groups.shifted:
        sch.compute_inline(groups.copy)
    by_name = loops_by_iter(sch, block)
    *outer, w, c = (by_name[a] for a in what.result)
    sums = [by_name[a] for a in what.extents if a not in what.result and a != group and a in by_name]
    window = prod(what.extents[a] or 1 for a in what.sums if a != group)
    tile = _lane_tile(what, dot, target)
    w_0, w_1 = sch.split(w, [None, tile.pixels])
    c_0, c_1, c_2, c_3 = sch.split(c, [None, tile.steps, tile.together, dot.lanes])
    sch.reorder(*outer, c_0, w_0, c_1, *sums, w_1, c_2, c_3, by_name[group])
    write_back = sch.cache_write(block, 0, "local")
    merge_epilogue(sch, write_back, epilogue)
    sch.reverse_compute_at(write_back, c_1, preserve_unit_loops=True)
    sch.set_scope(copy, 0, "local")
    size = _bytes_of_channel(sch, copy) * tile.steps * tile.together * dot.lanes
    # longer rows are not on the stack: what a tile reads is copied just before it
    sch.compute_at(copy, c_0 if size <= STACK_BUFFER else w_0, preserve_unit_loops=True)
    _interleave(sch, copy, tile.adjacent)
    start = sch.decompose_reduction(block, sums[0])
    for loop in (*sums[1:], w_1, c_2) if window * tile.pixels * tile.together <= MOST_UNROLLED else [w_1, c_2]:
        sch.unroll(loop)
    sch.tensorize(c_3, dot.lanes_name)
    for loops in (sch.get_loops(start)[-3:], sch.get_loops(write_back)[-2:]):
        for loop in loops[:-1]:
            sch.unroll(loop)
        sch.vectorize(loops[-1])
    if shift is not None:
        _sum_weights(sch, shift, dot)
    return copy


@dataclass(frozen=True)
class _LaneTile:
    """pixels x together: register tile, of pixels and vectors of channels.

    steps: tiles along the channels for which rows are copied at once. adjacent: channels that are interleaved at once.
    """

    pixels: int
    together: int
    steps: int
    adjacent: int


def _lane_tile(what: Convolution, dot: Dot, target: Target) -> _LaneTile:
    row, channels = (what.extents[a] or 1 for a in what.result[-2:])
    most = ADJACENT.get(dot.lanes, dot.lanes) // dot.lanes
    vectors = next(v for v in range(most, 0, -1) if channels % (v * dot.lanes) == 0)
    adjacent = vectors * dot.lanes
    together = gcd(vectors, max(1, TOGETHER // dot.lanes))
    pixels = even_tile(row, min(MOST_PIXELS, (target.registers - BESIDE - together) // together))
    if together == vectors > 1:
        vectors *= next(n for n in range(MOST_STEPS, 0, -1) if channels % (n * adjacent) == 0)
    return _LaneTile(pixels, together, vectors // together, adjacent)


def _sum_weights(sch: Schedule, shift: BlockHandle, dot: Dot) -> None:
    """Sum the weights of each channel, those of a group by an instruction."""
    channels, *sums, group = sch.get_loops(shift)
    c_0, c_1 = sch.split(channels, [None, dot.lanes])
    sch.reorder(c_0, *sums, c_1, group)
    write_back = sch.cache_write(shift, 0, "local")
    sch.reverse_compute_at(write_back, c_0, preserve_unit_loops=True)
    start = sch.decompose_reduction(shift, sums[0])
    for part in (start, write_back):
        sch.vectorize(sch.get_loops(part)[-1])
    sch.tensorize(c_1, dot.sum_name)


def _bytes_of_channel(sch: Schedule, copy: BlockHandle) -> int:
    """The bytes of a channel in what is copied for a row of the result; those of symbolic width do not fit."""
    *_, groups, width, _, each = block_info(sch, copy).writes[0].buffer.shape
    return (groups or 1) * (width or STACK_BUFFER) * (each or 1)


def _interleave(sch: Schedule, copy: BlockHandle, adjacent: int) -> None:
    """Copy rows of channels, those of a group interleaved in registers, of so many adjacent channels."""
    *_, channels, group = sch.get_loops(copy)
    _, channels = sch.split(channels, [None, adjacent])
    sch.reorder(group, channels)
    sch.unroll(group)
    sch.vectorize(channels)
