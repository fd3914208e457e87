"""Tile sizes of a convolution as a matrix product, from its extents and the target."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, prod

from tir_mlir.schedules.convolution import Convolution
from tir_mlir.schedules.tile_sizes import register_tile
from tir_mlir.target import Target

FEWEST = 4
"""Panels that each thread must get, for threads to share the panels."""


@dataclass(frozen=True)
class ConvTiles:
    """mr x nr: the tile in registers; depth: how much of the longest sum a pass takes; panels: of nr columns each, as
    many as are packed at a time."""

    mr: int
    nr: int
    depth: int
    panels: int


def conv_tiles(what: Convolution, target: Target, threads: int = 1) -> ConvTiles:
    """The tiles of a convolution; blocks of panels are as many for each thread, where there are enough."""
    m, n, deep = what.size(what.rows), what.size(what.columns), what.extents[what.deep]
    lanes, size = target.lanes(what.bits), max(1, what.bits // 8)
    window = prod(what.extents[a] or 1 for a in what.sums if a != what.deep)
    mr, vectors = register_tile(m, n, lanes, target)
    nr = vectors * lanes
    step = nr * size * window  # bytes of a panel for one step of the longest sum
    depth = _divisor(deep, max(1, target.l1 * 2 // 3 // step))
    return ConvTiles(mr, nr, depth, _even(n and ceil(n / nr), max(1, target.l2 // 2 // (depth * step)), threads))


def _even(extent: int | None, most: int, workers: int = 1) -> int:
    """A step that cuts an extent into equal parts of at most `most`, as many for each worker if it is long enough."""
    if extent is None:
        return most
    parts = ceil(extent / most)
    return ceil(extent / (ceil(parts / workers) * workers if extent >= FEWEST * workers else parts))


def _divisor(extent: int | None, most: int) -> int:
    """A step of at most `most` that leaves nothing over, if one is not much smaller; else one of equal parts."""
    whole = [step for step in range(1, most + 1) if extent is not None and extent % step == 0]
    return whole[-1] if whole and 2 * whole[-1] > min(most, extent or most) else _even(extent, most)
