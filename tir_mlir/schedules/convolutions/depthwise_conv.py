"""Schedule for depthwise and grouped convolutions: vectorize the result, accumulate in registers."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from tir_mlir.schedule import Schedule
from tir_mlir.schedules.block_queries import block_info
from tir_mlir.schedules.convolutions.convolution import Convolution
from tir_mlir.schedules.even_tiles import LARGE, even_tile
from tir_mlir.schedules.free_choice import Free
from tir_mlir.schedules.products.epilogue import merge_epilogue
from tir_mlir.target import Target

PIXELS = 7
"""The maximum number of pixels that share the weights in registers."""
UNROLLED = 32
"""The maximum number of weights of a channel that are unrolled."""


def depthwise(
    sch: Schedule, block: Any, what: Convolution, target: Target, threads: int, free: Free, epilogue: Any | None = None
) -> None:
    """Vectorize the innermost axis of the result with extent > 1; all reductions run inside it.

        for h, w, c, y, x:                                         for h, c_0, w_0:
            Y[h, w, c] += X[h + y, w + x, c] * W[y, x, c]    ->        for y, x, w_1 (unrolled), c_1 (vectors): Y += ..

    Lanes that are channels, as in NHWC, share their weights among a few pixels.
    """
    by_name = dict(zip(what.extents, sch.get_loops(block), strict=True))
    wide = [a for a in what.result if what.extents[a] != 1] or list(what.result)
    lane = by_name[wide[-1]]
    sums = [by_name[a] for a in what.extents if a not in what.result]
    pixels = _pixels(sch, block, what, wide, free)
    outer = [by_name[a] for a in what.result if a != wide[-1]]
    lane_0, lane_1 = sch.split(lane, [None, target.lanes(what.bits) * free.choice("vectors", (1, 2, 4), 1)])
    if pixels > 1:
        at, pixel = sch.split(by_name[wide[-2]], [None, pixels])
        first = [x for x in outer if x is not by_name[wide[-2]]]
        sch.reorder(*first, lane_0, at, *sums, pixel, lane_1)
    else:
        at, pixel = lane_0, None
        sch.reorder(*outer, lane_0, *sums, lane_1)
    write_back = sch.cache_write(block, 0, "local")
    merge_epilogue(sch, write_back, epilogue)
    sch.reverse_compute_at(write_back, at, preserve_unit_loops=True)
    sch.vectorize(lane_1)
    if pixel is not None:
        _unroll(sch, [pixel, *sums[1:]])
        sch.unroll(sch.get_loops(write_back)[-2])
    init = sch.decompose_reduction(block, sums[0])
    if pixel is not None:
        _unroll(sch, [sch.get_loops(init)[-2], sums[0]])
    sch.vectorize(sch.get_loops(write_back)[-1])
    if threads > 1 and len(wide) > 1:
        sch.parallel(by_name[wide[0]])


def _unroll(sch: Schedule, loops: Sequence[Any]) -> None:
    for loop in loops:
        if str(sch.get(loop).kind) == "serial":
            sch.unroll(loop)


def _pixels(sch: Schedule, block: Any, what: Convolution, wide: list[str], free: Free) -> int:
    """The number of pixels of a row in a tile; 1 if lanes are no channels, or sums are long."""
    window = prod(what.extents[a] or LARGE for a in what.sums)
    inputs = [r for r in block_info(sch, block).reads if str(r) not in map(str, block_info(sch, block).writes)]
    channels = all(r.axes[-1] == (wide[-1],) for r in inputs)
    row = what.extents[wide[-2]] if len(wide) > 1 else None
    if not channels or window > UNROLLED or row is None:
        return 1
    return free.choice("pixels", [p for p in (1, 2, 4, 7, 14) if p <= row], even_tile(row, PIXELS))
