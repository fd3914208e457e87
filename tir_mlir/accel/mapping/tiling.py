"""How a nest may be tiled, and what that costs: rows of each memory, and cycles by a sum over its loops."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations, product
from math import prod

from tir_mlir.accel.mapping.nest import CopiedOperand, Nest, TiledBuffer
from tir_mlir.accel.operands import MemorySpace

_SIZES = 8
"""Sizes of the parts of an axis that are tried at most."""


@dataclass(frozen=True)
class Tiling:
    """How a nest is tiled: tiles of each axis on the chip at once, the order of the loops over these parts, and the
    loop in which each copy is, by its number in that order (-1: before all of them)."""

    parts: tuple[int, ...]
    order: tuple[int, ...]
    levels: tuple[int, ...]
    ahead: bool = True
    """Whether copies run an iteration ahead."""

    def trips(self, nest: Nest, axis: int) -> int:
        """The iterations of the loop over the parts of an axis."""
        return -(-nest.axes[axis].tiles // self.parts[axis])

    def outer(self, nest: Nest) -> list[int]:
        """The axes of the loops over parts."""
        return [a for a in self.order if self.trips(nest, a) > 1]

    def planes(self, level: int) -> int:
        """How often a copied buffer exists."""
        return 2 if self.ahead and level >= 0 else 1


def tilings(nest: Nest) -> list[tuple[float, Tiling]]:
    """The tilings that fit the memories, with their cycles, fewest first."""
    found = []
    sizes = [_sizes(axis.tiles) for axis in nest.axes]
    spatial = [a for a, axis in enumerate(nest.axes) if axis.kind == "S"]
    reduced = tuple(a for a, axis in enumerate(nest.axes) if axis.kind != "S")
    for parts in product(*sizes):
        looped = [a for a in spatial if parts[a] < nest.axes[a].tiles]
        still = tuple(a for a in spatial if a not in looped)
        if result_rows(nest, parts) > nest.result.memory.rows:
            continue
        for order in permutations(looped):
            plain = Tiling(parts, (*still, *order, *reduced), ())
            outer = plain.outer(nest)
            for levels in product(*(_levels(copy, outer) for copy in nest.copies)):
                tiling = Tiling(parts, plain.order, levels)
                if fits(nest, tiling):
                    found.append((cycles(nest, tiling), tiling))
    return sorted(found, key=lambda pair: (pair[0], moved_rows(nest, pair[1])))


def _sizes(tiles: int) -> list[int]:
    """Sizes of equal parts of so many tiles, few of them."""
    sizes = sorted({-(-tiles // parts) for parts in range(1, tiles + 1)})
    if len(sizes) <= _SIZES:
        return sizes
    step = (len(sizes) - 1) / (_SIZES - 1)
    wanted = [1, 2, 4, 8, 16, 32, 64, tiles]
    even = [s for s in sizes if tiles % s == 0]
    near = {min(even if len(even) > _SIZES // 2 else sizes, key=lambda s: abs(s - w)) for w in wanted if w <= tiles}
    return sorted(near or {sizes[round(n * step)] for n in range(_SIZES)})


def _levels(copy: CopiedOperand, outer: Sequence[int]) -> Iterator[int]:
    """The loops in which a copy may be: those that its elements depend on, and before all."""
    yield -1
    yield from (n for n, axis in enumerate(outer) if axis in copy.buffer.axes)


def fits(nest: Nest, tiling: Tiling) -> bool:
    """Whether the buffers of a nest fit the memories."""
    return all(rows <= memory.rows for memory, rows in used_rows(nest, tiling).items())


def used_rows(nest: Nest, tiling: Tiling) -> dict[MemorySpace, int]:
    """The rows of each memory that a nest takes."""
    used = {nest.result.memory: result_rows(nest, tiling.parts)}
    outer = tiling.outer(nest)
    for copy, level in zip(nest.copies, tiling.levels, strict=True):
        rows = copy.buffer.rows(_sizes_of(nest, copy.buffer, tiling, outer[: level + 1]))
        memory = copy.buffer.memory
        used[memory] = used.get(memory, 0) + rows * tiling.planes(level)
    return used


def result_rows(nest: Nest, parts: Sequence[int]) -> int:
    """The rows of the result of one part."""
    return nest.result.rows([parts[a] * nest.axes[a].tile for a in nest.result.indices])


def _sizes_of(nest: Nest, buffer: TiledBuffer, tiling: Tiling, fixed: Sequence[int]) -> list[int]:
    """The elements of a copied buffer in each dimension; `fixed`: the axes of which there is one part only."""
    tiles = [tiling.parts[a] if a in fixed else nest.axes[a].tiles for a in buffer.indices]
    return [count * nest.axes[a].tile for count, a in zip(tiles, buffer.indices, strict=True)]


def moved_rows(nest: Nest, tiling: Tiling) -> int:
    """The rows that are copied into the memories."""
    outer = tiling.outer(nest)
    return sum(
        _copies(nest, copy, tiling, outer[: level + 1])
        * copy.copy.rows
        * prod(tiling.trips(nest, a) for a in outer[: level + 1])
        for copy, level in zip(nest.copies, tiling.levels, strict=True)
    )


def _copies(nest: Nest, copy: CopiedOperand, tiling: Tiling, fixed: Sequence[int]) -> int:
    """The instructions of one run of a copy."""
    tile = dict(zip(copy.buffer.dims, copy.copy.written.shape, strict=True))
    sizes = _sizes_of(nest, copy.buffer, tiling, fixed)
    return prod(-(-size // tile.get(dim, 1)) for dim, size in enumerate(sizes))


def cycles(nest: Nest, tiling: Tiling) -> float:
    """About the cycles of a nest.

    From the inside out, a loop takes for each iteration what its body computes, or what is copied in it if that is more
    and runs ahead; a copy of more instructions than its unit's queue holds them all up, unless those that compute have
    enough in theirs.
    """
    outer, unit = tiling.outer(nest), nest.role.instruction.unit
    fixed = {*outer}
    time = float(nest.role.cycles) * prod(
        tiling.parts[a] if a in fixed else axis.tiles for a, axis in enumerate(nest.axes)
    )
    queued = unit.queue * nest.role.cycles
    spatial = [n for n, a in enumerate(outer) if nest.axes[a].kind == "S"]
    last = spatial[-1] if spatial else -1
    for level in range(len(outer) - 1, -2, -1):
        here = [c for c, at in zip(nest.copies, tiling.levels, strict=True) if at == level]
        load, burst, latency = 0.0, 0.0, 0
        for copy in here:
            count = _copies(nest, copy, tiling, outer[: level + 1])
            load += count * copy.copy.cycles
            burst += max(0, count - copy.copy.instruction.unit.queue) * copy.copy.cycles
            latency = max(latency, copy.copy.instruction.latency)
        if level == last:
            time += _around(nest, tiling, queued)
        trips = tiling.trips(nest, outer[level]) if level >= 0 else 1
        if tiling.ahead and level >= 0:
            time = trips * max(time + max(0.0, burst - queued), load) + load + latency
        else:
            time = trips * (time + load + latency * bool(here))
    return time


def _around(nest: Nest, tiling: Tiling, queued: int) -> float:
    """The cycles of a part before its first term and after its last one."""
    tiles = prod(tiling.parts[a] for a, axis in enumerate(nest.axes) if axis.kind == "S")
    fill = 0.0 if nest.fill is None else float(tiles * nest.fill.cycles)
    store = nest.store
    exposed = max(0, tiles - store.instruction.unit.queue) * store.cycles - queued
    return fill + max(0.0, float(exposed)) + store.cycles + store.instruction.latency
