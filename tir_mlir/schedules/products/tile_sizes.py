"""Tile sizes of matrix products, from the extents and the target.

Follows Goto and van de Geijn (Anatomy of High-Performance Matrix Multiplication, 2008): a tile of the result in
registers, a panel of the right operand in L1, a block of the left operand in L2.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

from tir_mlir.schedules.block_queries import LARGE, even_tile
from tir_mlir.target import Target

LATENCY = 8
"""The number of independent multiply-adds that saturates two FMA units of typical latency."""
STEP = 0.5
"""Loop overhead, in cycles."""
STREAMS = 8
"""The maximum number of rows of an unpacked left operand, as more may conflict in one cache set."""
ALIKE = 1.02
"""Costs within this ratio count as equal."""


@dataclass(frozen=True)
class Tiles:
    """mr x nr: register tile; kc: reduction steps per pass; mc x kc and kc x nc: cache blocks of the operands."""

    mr: int
    nr: int
    kc: int
    mc: int
    nc: int


def tiles(
    m: int | None, n: int | None, k: int | None, bits: int, target: Target, threads: int = 1, panel: int = 0
) -> Tiles:
    """Choose the tiles of an m x n x k product (None: symbolic) of `bits`-wide elements; parallel over rows. panel: the
    width of the panels that the right operand has, which are read once by few rows; 0: none."""
    m, n, k = m or LARGE, n or LARGE, k or LARGE
    lanes, size = target.lanes(bits), max(1, bits // 8)
    mr, vectors = register_tile(m, n, lanes, target, panel=panel)
    mr, nr = min(mr, m), vectors * lanes
    kc = even_tile(k, max(16, target.l1 * 2 // 3 // (nr * size)))  # a panel in L1, with room for left rows
    kc = k if panel and m == mr else kc
    mc = even_tile(m, max(mr, target.l2 // 2 // (kc * size)), mr, threads)
    nc = even_tile(n, max(nr, target.l3 // 2 // (kc * size)), nr)
    return Tiles(mr, nr, kc, mc, nc)


def register_tile(
    m: int | None,
    n: int | None,
    lanes: int,
    target: Target,
    fewest_loads: bool = False,
    exact: bool = False,
    panel: int = 0,
    masked: bool = False,
) -> tuple[int, int]:
    """Rows and vectors of the register tile. Among tiles of about equal cost, the one with the fewest vectors, whose
    panels in L1 are longest; with `fewest_loads`, the one with the fewest loads for a multiply-add, where those of the
    right operand count twice, as they come from L2. `masked`: only tiles whose width is a power of two: masked vectors
    have such widths. `exact`: the same, and rows that divide m. `panel`: only tiles of this width, if any has it."""
    fitting = [c for c in _candidates(target) if c[1] in (1, 2, 4) or not (masked or exact)]
    fitting = [c for c in fitting if not exact or (m or LARGE) % c[0] == 0]
    fitting = [c for c in fitting if c[1] * lanes == panel] or fitting
    costs = {c: _cost(*c, m or LARGE, n or LARGE, lanes) for c in fitting}
    good = [c for c, cost in costs.items() if cost <= ALIKE * min(costs.values())]
    return min(good, key=lambda c: ((c[0] + 2 * c[1]) / (c[0] * c[1]) if fewest_loads else c[1], costs[c]))


def _candidates(target: Target) -> list[tuple[int, int]]:
    """Tiles (rows, vectors) whose accumulators, one row of the right operand and one left element fit in registers."""
    return [
        (rows, vectors)
        for vectors in range(1, 5)
        for rows in range(1, STREAMS + 1)
        if rows * vectors + vectors + 1 <= target.registers
    ]


def _cost(rows: int, vectors: int, m: int, n: int, lanes: int) -> float:
    """Cycles for one reduction step over the whole result, partial tiles included."""
    heights = ((rows, m // rows), (m % rows, 1))
    widths = ((vectors, n // (vectors * lanes)), (ceil(n % (vectors * lanes) / lanes), 1))
    return sum(_step(r, v) * a * b for r, a in heights for v, b in widths)


def _step(rows: int, vectors: int) -> float:
    """Cycles of one tile step: the maximum of multiply-adds, loads and latency, plus loop overhead."""
    return STEP + max(rows * vectors / 2, (rows + vectors) / 2, LATENCY / 2) if rows and vectors else 0
