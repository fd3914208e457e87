"""The sizes of tiles: what fits in the registers and caches of a CPU, and what a step of a sum costs its core.

One model for products and convolutions of all types, from extents and what a `Target` says, never from a CPU's name.
Follows Goto and van de Geijn (Anatomy of High-Performance Matrix Multiplication, 2008): a tile of the result in
registers, a panel of the right operand in L1, a block of the left operand in L2.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil

from tir_mlir.schedules.block_queries import LARGE, even_tile
from tir_mlir.target import Target

LATENCY = 8
"""The number of independent multiply-adds that saturates two FMA units of typical latency."""
OVERHEAD = 0.5
"""Of a step, for the loop, in cycles."""
STREAMS = 8
"""The maximum number of rows of an unpacked left operand, as more may conflict in one cache set."""
MOST_VECTORS = 4
"""The maximum number of vectors of a row of a tile."""
ALIKE = 1.02
"""Costs within this ratio count as equal."""
MOST_PASSES = 64
"""The most tiles that read a panel for which the next panel is prefetched: of more, the first is a small part."""
PARTS = {"l1": (2, 3), "l2": (1, 2), "l3": (1, 2)}
"""The part of a cache that what is read again and again may fill: the rest is for what passes through."""

Cost = Callable[[int, int], float]
"""The cycles of a step of the sum in a tile, from its rows and vectors."""
Preference = Callable[[int, int], tuple[float, ...]]
"""What decides between tiles that cost the same: the least."""


@dataclass(frozen=True)
class RegisterTile:
    """rows x vectors: the accumulators of a tile, and why, in words."""

    rows: int
    vectors: int
    why: str


@dataclass(frozen=True)
class Tiles:
    """mr x nr: register tile; kc: reduction steps per pass; mc x kc and kc x nc: cache blocks of the operands. why: in
    words."""

    mr: int
    nr: int
    kc: int
    mc: int
    nc: int
    why: tuple[str, ...] = ()


@dataclass(frozen=True)
class StepCost:
    """A step of the sum in a register tile.

    height: rows of the result in a vector of sums, which count as one row.
    held: registers that a vector of the right operand takes beside its sums; spare: others.
    most_rows, most_vectors, most_sums: limits of tiles.
    padded: whether the last tiles are as large as all.
    cycles: of a step; the units of a core take two multiply-adds and two loads a cycle.
    prefers: among tiles whose costs are at most `alike` times the least one.
    """

    height: int = 1
    held: int = 1
    spare: int = 1
    most_rows: int = STREAMS
    most_vectors: int = MOST_VECTORS
    most_sums: int = LARGE
    padded: bool = False
    cycles: Cost = lambda rows, vectors: OVERHEAD + max(rows * vectors, rows + vectors, LATENCY) / 2
    alike: float = ALIKE
    prefers: Preference = lambda rows, vectors: (vectors,)

    def fits(self, rows: int, vectors: int, target: Target) -> bool:
        """Whether the accumulators of a tile and what a step reads are in registers."""
        taken = rows * vectors + self.held * vectors + self.spare
        return taken <= target.registers and rows * vectors <= self.most_sums

    def total(self, rows: int, vectors: int, m: int, n: int, lanes: int) -> float:
        """Cycles for one step over the whole result, partial tiles included."""
        if self.padded:
            return ceil(m / rows) * ceil(n / (vectors * lanes)) * self.cycles(rows, vectors)
        heights = ((rows, m // rows), (m % rows, 1))
        widths = ((vectors, n // (vectors * lanes)), (ceil(n % (vectors * lanes) / lanes), 1))
        return sum(self.cycles(r, v) * a * b for r, a in heights for v, b in widths if r and v)


FLOATS = StepCost()
"""Among tiles of about equal cost, the one with the fewest vectors, whose panels in L1 are longest."""
FROM_L2 = StepCost(prefers=lambda rows, vectors: ((rows + 2 * vectors) / (rows * vectors),))
"""The one with the fewest loads for a multiply-add, where those of the right operand count twice, as they come from
L2."""
IN_PLACE = StepCost(prefers=lambda rows, vectors: (-vectors,))
"""The one with the most vectors, which reads most of a row of the right operand at once."""


def register_tile(
    m: int | None, n: int | None, lanes: int, target: Target, step: StepCost = FLOATS, *,
    exact: bool = False, panel: int = 0, masked: bool = False,
) -> RegisterTile:  # fmt: skip
    """Choose the rows and vectors of the tile that takes the fewest cycles of an m x n result (None: symbolic).

    `masked`: only tiles whose width is a power of two: masked vectors have such widths. `exact`: the same, and rows
    that divide m. `panel`: only tiles of this width, if any has it.
    """
    m, n = ceil((m or LARGE) / step.height), n or LARGE
    shapes = [(r, v) for v in range(1, step.most_vectors + 1) for r in range(1, step.most_rows + 1)]
    shapes = [s for s in shapes if step.fits(*s, target) and (s[1] in (1, 2, 4) or not (masked or exact))]
    shapes = [s for s in shapes if not exact or m % s[0] == 0]
    shapes = [s for s in shapes if s[1] * lanes == panel] or shapes
    costs = {s: step.total(*s, m, n, lanes) for s in shapes}
    good = [s for s, cost in costs.items() if cost <= step.alike * min(costs.values())]
    rows, vectors = min(good, key=lambda s: (*step.prefers(*s), costs[s]))
    return RegisterTile(rows * step.height, vectors, _why(rows, vectors, lanes, step, target))


def _why(rows: int, vectors: int, lanes: int, step: StepCost, target: Target) -> str:
    sums, loads = rows * vectors, rows + vectors
    limit = "multiply-adds" if sums >= max(loads, LATENCY) else "loads" if loads >= LATENCY else "the latency of a sum"
    kept = f"{sums} vectors of sums in {target.registers} registers"
    return f"tile of {rows * step.height} x {vectors * lanes}: {kept}, {loads} loads a step, limit: {limit}"


def room(target: Target, level: str) -> int:
    """Bytes of a cache ("l1", "l2", "l3") for what is read again and again."""
    part, whole = PARTS[level]
    size: int = getattr(target, level)
    return size * part // whole


def pays_to_fetch_ahead(size: int, passes: int, target: Target) -> bool:
    """Whether panels, of so many bytes in all, come from behind L2, and each is read by few tiles: these then have the
    time to fetch the next one, else the first of them waits for its own."""
    return 8 * size > target.l2 and 1 < passes <= MOST_PASSES


def kept_in(target: Target, level: str, what: str, size: int) -> str:
    """The reason for a size, in words: `panel of 1024 steps: 256 KiB, where L2 has room for 1024`."""
    return f"{what}: {ceil(size / 1024)} KiB, where {level.upper()} has room for {room(target, level) // 1024}"


def tiles(
    m: int | None, n: int | None, k: int | None, bits: int, target: Target, threads: int = 1, panel: int = 0,
    step: StepCost = FLOATS, longest: int = LARGE,
) -> Tiles:  # fmt: skip
    """Choose the tiles of an m x n x k product (None: symbolic) of `bits`-wide elements; parallel over rows. panel: the
    width of the panels that the right operand has, which are read once by few rows; 0: none. longest: the most steps of
    a pass."""
    m, n, k = m or LARGE, n or LARGE, k or LARGE
    lanes, size = target.lanes(bits), max(1, bits // 8)
    tile = register_tile(m, n, lanes, target, step, panel=panel)
    mr, nr = min(tile.rows, m), tile.vectors * lanes
    kc = even_tile(k, min(longest, max(16, room(target, "l1") // (nr * size))))  # in L1, with room for left rows
    kc = k if panel and m == mr else kc
    mc = even_tile(m, max(mr, room(target, "l2") // (kc * size)), mr, threads)
    nc = even_tile(n, max(nr, room(target, "l3") // (kc * size)), nr)
    why = (
        tile.why,
        kept_in(target, "l1", f"panel of {kc} steps", kc * nr * size),
        kept_in(target, "l2", f"block of {mc} rows", mc * kc * size),
    )
    return Tiles(mr, nr, kc, mc, nc, why)
