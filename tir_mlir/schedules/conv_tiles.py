"""Tile sizes of a convolution run as a matrix product, from its extents and the target alone."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

from tir_mlir.schedules.tiles import LARGE, LATENCY, STEP
from tir_mlir.target import Target

STREAMS = 8
"""Rows of the left operand that are read side by side, as it lies in memory: they may meet in one set of the cache."""


@dataclass(frozen=True)
class ConvTiles:
    """mr x nr: the tile in registers; depth: how much of the longest sum a pass takes; panels: of nr columns each, as
    many as are packed at a time."""

    mr: int
    nr: int
    depth: int
    panels: int


def conv_tiles(m: int | None, n: int | None, deep: int | None, window: int, bits: int, target: Target) -> ConvTiles:
    """The tiles for m rows, n columns and a sum of `deep` times `window` steps (None: not known yet)."""
    lanes, size = target.lanes(bits), max(1, bits // 8)
    mr, vectors = min(_candidates(target), key=lambda c: _cost(*c, m or LARGE, n or LARGE, lanes))
    nr = vectors * lanes
    depth = even(deep, max(1, target.l1 * 2 // 3 // (nr * size * window)))  # a panel in L1
    panels = even(None if n is None else ceil(n / nr), max(1, target.l2 // 2 // (depth * window * nr * size)))
    return ConvTiles(mr, nr, depth, panels)


def _candidates(target: Target) -> list[tuple[int, int]]:
    """Rows and vectors of a tile whose sums, one row of the right operand and one element of the left fit."""
    return [
        (rows, vectors)
        for vectors in range(1, 5)
        for rows in range(1, STREAMS + 1)
        if rows * vectors + vectors + 1 <= target.registers
    ]


def _cost(rows: int, vectors: int, m: int, n: int, lanes: int) -> tuple[float, int]:
    """Cycles for one step of the sum over the whole result, tails by what they are."""
    heights = ((rows, m // rows), (m % rows, 1))
    widths = ((vectors, n // (vectors * lanes)), (ceil(n % (vectors * lanes) / lanes), 1))
    cycles = sum(_tile(r, v) * a * b for r, a in heights for v, b in widths)
    return cycles, -rows * vectors


def _tile(rows: int, vectors: int) -> float:
    """Multiply-adds, loads and latency, whichever is most, and the step itself."""
    return STEP + max(rows * vectors / 2, (rows + vectors) / 2, LATENCY / 2) if rows and vectors else 0


def even(extent: int | None, most: int) -> int:
    """A step that cuts an extent into equal parts of at most `most`."""
    return most if extent is None else ceil(extent / ceil(extent / most))
