"""Tile sizes of convolutions as matrix products, from the extents and the target."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil, prod

from tir_mlir.schedules.convolutions.convolution import Convolution
from tir_mlir.schedules.free_choice import Free
from tir_mlir.schedules.products.free_products import free_tile
from tir_mlir.schedules.products.gemm_panels import MANY_REGISTERS
from tir_mlir.schedules.products.tile_sizes import FLOATS, FROM_L2, MOST_VECTORS, kept_in, register_tile, room
from tir_mlir.target import Target

UNROLLED = 8
"""The maximum number of unrolled reduction steps: enough for one row of a typical kernel window."""
DEEP = 8
"""The part of L2 for a panel whose vectors are loaded from there: others and rows of weights are beside it."""
FEWEST_VECTORS = 2
"""The vectors of a panel that may fill more than its part of L2: with one, a multiply-add takes a load."""
PIECES = 2
"""Lanes that are no more powers of two than that are computed as a vector of each; others are masked."""
FEWEST = 4
"""The minimum number of panels per thread for parallelizing over panels."""


@dataclass(frozen=True)
class ConvTiles:
    """mr x nr: register tile.

    depth: iterations of the longest reduction per pass.
    panels: number of panels, of nr columns each, packed at once.
    unrolled: the maximum number of unrolled reduction steps.
    why: in words.
    """

    mr: int
    nr: int
    depth: int
    panels: int
    unrolled: int = UNROLLED
    why: tuple[str, ...] = ()


def conv_tiles(
    what: Convolution, target: Target, threads: int = 1, rows: int | None = None, packed: bool = False
) -> ConvTiles:
    """Choose the tile sizes of a convolution, with equal numbers of panel blocks per thread if there are enough. rows:
    those that one thread takes, if not all. packed: callers are to pass the right operand in panels of these tiles.

    A panel that is packed in the call passes through L1, part by part; one that is read in place has the whole sum.
    """
    m, n, deep = rows or what.size(what.rows), what.size(what.columns), what.extents[what.deep]
    lanes, size = target.lanes(what.bits), max(1, what.bits // 8)
    if n is not None and n < lanes:
        lanes = _lanes_of_few(n)
    window = prod(what.extents[a] or 1 for a in what.sums if a != what.deep)
    # loads need not come from L1; windows copy pixels often, unless panels are there before
    wide = (window == 1 or packed or what.panel > 0) and target.registers >= MANY_REGISTERS
    cost = FROM_L2 if wide else FLOATS
    if wide and packed and deep:
        fitting = room(target, "l2") // (deep * window * lanes * size)  # as the next panel may be in L2, too
        cost = replace(cost, most_vectors=max(FEWEST_VECTORS, min(MOST_VECTORS, fitting)))
    tile = register_tile(m, n, lanes, target, cost, panel=what.panel)
    mr, nr = tile.rows, tile.vectors * lanes
    step = nr * size * window  # bytes of a panel per iteration of the longest reduction
    if (
        0 < what.panel <= nr and deep and deep * step <= target.l2
    ):  # read in place: each panel remains in L2 for all rows
        return ConvTiles(mr, nr, deep, 1, why=(tile.why, f"panel of {deep} channels, read in place, in L2"))
    level, most = ("l2", target.l2 // DEEP) if wide else ("l1", room(target, "l1"))
    depth = _dividing_tile(deep, max(1, most // step))
    panels = _even_tile(n and ceil(n / nr), max(1, room(target, "l2") // (depth * step)), threads)
    parts = ((level, f"panel of {depth} channels", depth * step), ("l2", f"{panels} panels", panels * depth * step))
    return ConvTiles(mr, nr, depth, panels, why=(tile.why, *(kept_in(target, *part) for part in parts)))


def _lanes_of_few(columns: int) -> int:
    """The lanes of vectors of fewer columns than a register has: 3 are computed in two pieces of 2, 7 in one of 8."""
    whole = 1 << (columns.bit_length() - 1)
    return whole if columns.bit_count() <= PIECES else 2 * whole


def free_conv_tiles(free: Free, what: Convolution, plan: ConvTiles, target: Target) -> ConvTiles:
    """A plan with its parameters sampled; the same one if they are not free."""
    if not free:
        return plan
    m, n, deep = what.size(what.rows), what.size(what.columns), what.extents[what.deep]
    mr, nr = free_tile(free, m, n, target.lanes(what.bits), target, plan.mr, plan.nr, what.panel)
    depth = free.choice("depth", [d for d in (8, 16, 32, 64, 128, 256, deep or 0) if 0 < d <= (deep or 0)], plan.depth)
    panels = [p for p in (1, 2, 4, 8, 16) if n is None or (p - 1) * nr < n]
    unrolled = free.choice("unroll", (1, 4, 8, 16), plan.unrolled)
    return ConvTiles(mr, nr, depth, free.choice("panels", panels, plan.panels), unrolled)


def _even_tile(extent: int | None, most: int, workers: int = 1) -> int:
    """A tile size of at most `most` that cuts an extent into equal tiles, the same number per worker if it is long."""
    if extent is None:
        return most
    parts = ceil(extent / most)
    return ceil(extent / (ceil(parts / workers) * workers if extent >= FEWEST * workers else parts))


def _dividing_tile(extent: int | None, most: int) -> int:
    """The largest divisor up to `most`, unless it is less than half of that; else a size of nearly equal tiles."""
    divisors = [step for step in range(1, most + 1) if extent is not None and extent % step == 0]
    return divisors[-1] if divisors and 2 * divisors[-1] > min(most, extent or most) else _even_tile(extent, most)
