"""Blocks that put zeros around an image: a fill and a copy, by vectors."""

from __future__ import annotations

from typing import Any

from tir_mlir.schedule import Schedule
from tir_mlir.schedules.convolution import Convolution, block_info, extent_of


def pads(sch: Schedule, block: Any, what: Convolution) -> list[Any]:
    """The producers of a block that pad. The rows of such an image become one dimension: what a pixel reads is at a
    multiple of its number then, but for the gaps between rows."""
    found = [p for p in sch.get_producers(block) if sch.can_decompose_padding(p, sch.get_loops(p)[0])]
    for producer in found:
        (image,) = block_info(sch, producer).writes
        pixels = what.columns if str(image) == what.right else what.rows
        if len(pixels) > 1:
            region = next(r for r in block_info(sch, block).reads if str(r) == str(image))
            first, last = (next(d for d, axis in enumerate(region.axes) if a in axis) for a in pixels)
            width = image.buffer.shape[last]
            if last == first + 1 and width is not None:
                sch.transform_layout(producer, ("write", 0), _joined(first, width))
    return found


def _joined(first: int, width: int) -> Any:
    """Dimension `first` and the next one as one."""
    return lambda *i: (*i[:first], i[first] * width + i[first + 1], *i[first + 2 :])


def unpad(sch: Schedule, producer: Any, lanes: int, threads: int) -> None:
    """Fill, then copy without conditions."""
    fill = sch.decompose_padding(producer, sch.get_loops(producer)[0])
    for one in (fill, producer):
        loops = sch.get_loops(one)
        wide = [x for x in loops if extent_of(sch, x) != 1]
        sch.vectorize(loops[-1] if extent_of(sch, loops[-1]) is not None else sch.split(loops[-1], [None, lanes])[1])
        if threads > 1 and len(wide) > 1:
            sch.parallel(wide[0])
