"""Schedule for depthwise and grouped convolutions: vectorize the result, accumulate in registers."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from tir_mlir.schedule import Schedule
from tir_mlir.schedules.block_queries import block_info, loops_by_iter
from tir_mlir.schedules.convolutions.convolution import Convolution
from tir_mlir.schedules.convolutions.padding import Pad, has_whole_rows
from tir_mlir.schedules.even_tiles import LARGE, even_tile
from tir_mlir.schedules.free_choice import Free
from tir_mlir.schedules.products.epilogue import merge_epilogue
from tir_mlir.schedules.threads import parallelize
from tir_mlir.target import Target

PIXELS = 7
"""The maximum number of pixels that share the weights in registers."""
UNROLLED = 32
"""The maximum number of weights of a channel that are unrolled."""
THREAD_WORK = 1 << 17
"""The minimum number of multiply-adds per thread: they are bound by memory, about 10 us."""


def depthwise(
    sch: Schedule,
    block: Any,
    what: Convolution,
    target: Target,
    threads: int,
    free: Free,
    epilogue: Any | None = None,
    padding: Sequence[Pad] = (),
) -> list[Pad]:
    """Vectorize the innermost axis of the result with extent > 1; all reductions run inside it.

        for h, w, c: P[h, w, c] = X, or 0 at a margin          for h_0:
        for h, w, c, y, x:                               ->        for h_1, w, c: P[..]     (the rows that h_0 reads)
            Y[h, w, c] += P[h + y, w + x, c] * W[y, x, c]          for h_1, c_0, w_0:
                                                                       for y, x, w_1 (unrolled), c_1 (vectors): Y += ..

    Lanes that are channels, as in NHWC, share their weights among a few pixels; then an image is padded strip by strip,
    each of a few rows that fit in L2, which threads share. Returns the padding blocks that are left as they were.
    """
    by_name = loops_by_iter(sch, block)
    wide = [a for a in what.result if what.extents[a] != 1] or list(what.result)
    lane = by_name[wide[-1]]
    sums = [by_name[a] for a in what.extents if a not in what.result]
    pixels = _pixels(sch, block, what, wide, free)
    outer = [by_name[a] for a in what.result if a != wide[-1]]
    lane_0, lane_1 = sch.split(lane, [None, target.lanes(what.bits) * free.choice("vectors", (1, 2, 4), 1)])
    if pixels > 1:
        tile_loop, pixel = sch.split(by_name[wide[-2]], [None, pixels])
        first = [x for x in outer if x is not by_name[wide[-2]]]
        sch.reorder(*first, lane_0, tile_loop, *sums, pixel, lane_1)
    else:
        tile_loop, pixel = lane_0, None
        sch.reorder(*outer, lane_0, *sums, lane_1)
    write_back = sch.cache_write(block, 0, "local")
    merge_epilogue(sch, write_back, epilogue)
    sch.reverse_compute_at(write_back, tile_loop, preserve_unit_loops=True)
    sch.vectorize(lane_1)
    if pixel is not None:
        _unroll(sch, [pixel, *sums[1:]])
        sch.unroll(sch.get_loops(write_back)[-2])
    init = sch.decompose_reduction(block, sums[0])
    if pixel is not None:
        _unroll(sch, [sch.get_loops(init)[-2], sums[0]])
    sch.vectorize(sch.get_loops(write_back)[-1])
    rows = _strip(sch, what, padding, wide, target, threads) if pixel is not None else None
    if rows is None:
        if threads > 1 and len(wide) > 1:
            sch.parallel(by_name[wide[0]])
        return list(padding)
    h_0, _ = sch.split(by_name[wide[-3]], [None, rows])
    (pad,) = padding
    sch.compute_at(pad.block, h_0)
    sch.vectorize(sch.get_loops(pad.block)[-1])
    parallelize(sch, [*(by_name[a] for a in wide[:-3]), h_0], threads)
    return []


def _strip(
    sch: Schedule, what: Convolution, padding: Sequence[Pad], wide: Sequence[str], target: Target, threads: int
) -> int | None:
    """The rows of the result whose padded image fits in a quarter of L2, evenly over threads. None: the image is not
    padded strip by strip, as it is small, or as its rows are not copied whole."""
    if len(padding) != 1 or len(wide) < 3 or not has_whole_rows(sch, padding[0].block, target.lanes(what.bits)):
        return None
    (image,) = block_info(sch, padding[0].block).writes
    rows, shape = what.extents[wide[-3]], [n for n in image.buffer.shape[-3:] if n is not None]
    if rows is None or len(shape) < 3:
        return None
    high, width, channels = shape
    most = max(1, target.l2 // 4 // (width * channels * what.bits // 8) * rows // high)
    return even_tile(rows, most, 1, threads) if rows > most or threads > 1 else None


def _unroll(sch: Schedule, loops: Sequence[Any]) -> None:
    for loop in loops:
        if str(sch.get(loop).kind) == "serial":
            sch.unroll(loop)


def _pixels(sch: Schedule, block: Any, what: Convolution, wide: list[str], free: Free) -> int:
    """The number of pixels of a row in a tile; 1 if lanes are no channels, or sums are long."""
    window = prod(what.extents[a] or LARGE for a in what.sums)
    inputs = [r for r in block_info(sch, block).reads if str(r) not in map(str, block_info(sch, block).writes)]
    channels = all(_last_axis(r) == (wide[-1],) for r in inputs)
    row = what.extents[wide[-2]] if len(wide) > 1 else None
    if not channels or window > UNROLLED or row is None:
        return 1
    return free.choice("pixels", [p for p in (1, 2, 4, 7, 14) if p <= row], even_tile(row, PIXELS))


def _last_axis(region: Any) -> tuple[str, ...]:
    """The iters that index the innermost dimension of extent > 1."""
    sizes = zip(region.axes, region.buffer.shape, strict=True)
    return next((axis for axis, size in reversed(list(sizes)) if size != 1), ())
