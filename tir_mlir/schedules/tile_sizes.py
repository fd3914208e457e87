"""Tile sizes of a matrix product, from its extents and the target alone.

The scheme is that of Goto and van de Geijn (Anatomy of High-Performance Matrix Multiplication, 2008): a tile of the
result in registers, a panel of the right operand in L1, a block of the left one in L2.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

from tir_mlir.target import Target

LARGE = 1 << 20
"""Stands for an extent that is known when the program runs."""
LATENCY = 8
"""Independent multiply-adds that keep two units of a usual latency busy."""
STEP = 0.5
"""Cycles of a loop around it all."""
STREAMS = 8
"""Rows of the left operand that are read side by side, as it lies in memory: they may meet in one set of the cache."""
ALIKE = 1.02
"""Costs that differ by less say nothing."""


@dataclass(frozen=True)
class Tiles:
    """mr x nr: the tile in registers; kc: the sum of one pass; mc x kc, kc x nc: what the caches hold."""

    mr: int
    nr: int
    kc: int
    mc: int
    nc: int


def tiles(m: int | None, n: int | None, k: int | None, bits: int, target: Target, threads: int = 1) -> Tiles:
    """The tiles for an m x n x k product (None: not known yet) of elements of so many bits; each thread gets rows."""
    m, n, k = m or LARGE, n or LARGE, k or LARGE
    lanes, size = target.lanes(bits), max(1, bits // 8)
    mr, vectors = register_tile(m, n, lanes, target)
    nr = vectors * lanes
    kc = even(k, max(16, target.l1 * 2 // 3 // (nr * size)))  # a panel in L1, with room for the rows of the left
    mc = even(m, max(mr, target.l2 // 2 // (kc * size)), mr, threads)
    nc = even(n, max(nr, target.l3 // 2 // (kc * size)), nr)
    return Tiles(mr, nr, kc, mc, nc)


def register_tile(m: int | None, n: int | None, lanes: int, target: Target) -> tuple[int, int]:
    """Rows and vectors of the tile in registers; of tiles about as good, the one with the fewest vectors: a panel of so
    many columns is the longer in L1."""
    costs = {c: _cost(*c, m or LARGE, n or LARGE, lanes) for c in _candidates(target)}
    good = [c for c, cost in costs.items() if cost <= ALIKE * min(costs.values())]
    return min(good, key=lambda c: (c[1], costs[c]))


def _candidates(target: Target) -> list[tuple[int, int]]:
    """Rows and vectors of a tile whose sums, one row of the right operand and one element of the left fit."""
    return [
        (rows, vectors)
        for vectors in range(1, 5)
        for rows in range(1, STREAMS + 1)
        if rows * vectors + vectors + 1 <= target.registers
    ]


def _cost(rows: int, vectors: int, m: int, n: int, lanes: int) -> float:
    """Cycles for one step of the sum over the whole result, tails by what they are."""
    heights = ((rows, m // rows), (m % rows, 1))
    widths = ((vectors, n // (vectors * lanes)), (ceil(n % (vectors * lanes) / lanes), 1))
    return sum(_step(r, v) * a * b for r, a in heights for v, b in widths)


def _step(rows: int, vectors: int) -> float:
    """Multiply-adds, loads and latency, whichever is most, and the loop around them."""
    return STEP + max(rows * vectors / 2, (rows + vectors) / 2, LATENCY / 2) if rows and vectors else 0


def even(extent: int, most: int, unit: int = 1, workers: int = 1) -> int:
    """A step that cuts an extent into equal parts of at most `most`, a multiple of `unit`; as many for each worker."""
    parts = ceil(extent / (most * workers)) * workers if extent < LARGE else 1
    step = ceil(extent / parts) if extent < LARGE else most
    return ceil(min(step, most) / unit) * unit
