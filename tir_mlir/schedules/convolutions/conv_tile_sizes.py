"""Tile sizes of convolutions as matrix products, from the extents and the target."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, prod

from tir_mlir.schedules.convolutions.convolution import Convolution
from tir_mlir.schedules.products.tile_sizes import register_tile
from tir_mlir.target import Target

FEWEST = 4
"""The minimum number of panels per thread for parallelizing over panels."""


@dataclass(frozen=True)
class ConvTiles:
    """mr x nr: register tile; depth: iterations of the longest reduction per pass; panels: number of panels, of nr
    columns each, packed at once."""

    mr: int
    nr: int
    depth: int
    panels: int


def conv_tiles(what: Convolution, target: Target, threads: int = 1) -> ConvTiles:
    """Choose the tile sizes of a convolution, with equal numbers of panel blocks per thread if there are enough."""
    m, n, deep = what.size(what.rows), what.size(what.columns), what.extents[what.deep]
    lanes, size = target.lanes(what.bits), max(1, what.bits // 8)
    window = prod(what.extents[a] or 1 for a in what.sums if a != what.deep)
    mr, vectors = register_tile(m, n, lanes, target)
    nr = vectors * lanes
    step = nr * size * window  # bytes of a panel per iteration of the longest reduction
    depth = _dividing_tile(deep, max(1, target.l1 * 2 // 3 // step))
    return ConvTiles(mr, nr, depth, _even_tile(n and ceil(n / nr), max(1, target.l2 // 2 // (depth * step)), threads))


def _even_tile(extent: int | None, most: int, workers: int = 1) -> int:
    """A tile size of at most `most` that cuts an extent into equal tiles, the same number per worker if it is long."""
    if extent is None:
        return most
    parts = ceil(extent / most)
    return ceil(extent / (ceil(parts / workers) * workers if extent >= FEWEST * workers else parts))


def _dividing_tile(extent: int | None, most: int) -> int:
    """The largest divisor up to `most`, unless it is less than half of that; else a size of nearly equal tiles."""
    whole = [step for step in range(1, most + 1) if extent is not None and extent % step == 0]
    return whole[-1] if whole and 2 * whole[-1] > min(most, extent or most) else _even_tile(extent, most)
