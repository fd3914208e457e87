"""Padding blocks before a convolution: decompose them into a vectorized fill and copy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tir_mlir.schedule import Schedule
from tir_mlir.schedules.block_queries import block_info, extent_of
from tir_mlir.schedules.convolutions.convolution import Convolution


@dataclass(frozen=True)
class Pad:
    """A padding block. If the pixel iters are fused: `rows` is the row dimension of its output, `width` the extent of
    the dimension after it."""

    block: Any
    rows: int = 0
    width: int | None = None


def find_pads(sch: Schedule, block: Any, what: Convolution) -> list[Pad]:
    """The padding blocks among the producers of a convolution."""
    nests = [(p, sch.get_loops(p)) for p in sch.get_producers(block)]
    return [_pad(sch, p, block, what) for p, loops in nests if loops and sch.can_decompose_padding(p, loops[0])]


def _pad(sch: Schedule, producer: Any, block: Any, what: Convolution) -> Pad:
    (image,) = block_info(sch, producer).writes
    pixels = what.columns if str(image) == what.right else what.rows
    if len(pixels) > 1:
        region = next(r for r in block_info(sch, block).reads if str(r) == str(image))
        first, last = (next(d for d, axis in enumerate(region.axes) if a in axis) for a in pixels)
        if last == first + 1:
            return Pad(producer, first, image.buffer.shape[last])
    return Pad(producer)


def join_rows(sch: Schedule, pad: Pad) -> None:
    """Fuse the row and column dimensions of the padded image: addresses are then affine in the fused pixel iter,
    except between rows."""
    rows, width = pad.rows, pad.width
    if width is not None:
        joined = lambda *i: (*i[:rows], i[rows] * width + i[rows + 1], *i[rows + 2 :])  # noqa: E731
        sch.transform_layout(pad.block, ("write", 0), joined)


def decompose_pad(sch: Schedule, pad: Pad, lanes: int, threads: int) -> None:
    """Decompose a padding block into a fill and an unconditional copy, both vectorized.

    If there is no padding along the last axis, as of the channels in NHWC, it is only vectorized: each vector is either
    copied or filled.
    """
    if has_whole_rows(sch, pad.block, lanes):
        parts = [pad.block]
    else:
        parts = [sch.decompose_padding(pad.block, sch.get_loops(pad.block)[0]), pad.block]
    for part in parts:
        loops = sch.get_loops(part)
        wide = [x for x in loops if extent_of(sch, x) != 1]
        sch.vectorize(loops[-1] if extent_of(sch, loops[-1]) is not None else sch.split(loops[-1], [None, lanes])[1])
        if threads > 1 and len(wide) > 1:
            sch.parallel(wide[0])


def has_whole_rows(sch: Schedule, block: Any, lanes: int) -> bool:
    """Whether the rows of a padded image are those of the image, of a vector or more."""
    info = block_info(sch, block)
    (read, *extra_reads), (written, *_) = info.reads, info.writes
    same = not extra_reads and read.axes[-1] == written.axes[-1] and read.buffer.shape[-1] == written.buffer.shape[-1]
    return same and (written.buffer.shape[-1] or 0) >= lanes
