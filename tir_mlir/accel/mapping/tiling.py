"""How a nest may be tiled, and what that costs: rows of each memory, and cycles by a sum over its loops."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations, product
from math import prod

from tir_mlir.accel.mapping.axes import NestAxis, all_sizes
from tir_mlir.accel.mapping.nest import CopiedOperand, Nest, TiledBuffer
from tir_mlir.accel.operands import MemorySpace

_SIZES = 7
"""Sizes of the parts of an axis that are tried at most."""
_KEPT = 24
"""Parts of which all orders and places are tried."""

_UNLIMITED = 1 << 40
"""More tiles than any memory has."""


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


def tilings(nest: Nest, ahead: bool = True) -> list[tuple[float, Tiling]]:
    """The tilings that fit the memories, with their cycles, fewest first: of the parts that are best in the order of
    the block, all orders of loops and places of copies."""
    rough = []
    for parts in product(*map(_sizes, nest.axes)):
        if result_rows(nest, parts) <= nest.result.memory.rows:
            costs = [cycles(nest, t) for t in _first_tilings(nest, parts, ahead) if fits(nest, t)]
            rough += [(min(costs), parts)] if costs else []
    found = {}
    for _, parts in sorted(rough)[:_KEPT]:
        looped = [a for a, axis in enumerate(nest.axes) if axis.kind == "S" and parts[a] < axis.tiles]
        for order in permutations(looped):
            whole = Tiling(parts, loop_order(nest, order), ())
            for levels in product(*(copy_levels(copy, whole.outer(nest)) for copy in nest.copies)):
                tiling = Tiling(parts, whole.order, levels, ahead)
                if tiling not in found and fits(nest, tiling):
                    found[tiling] = cycles(nest, tiling)
    ranked = sorted(found, key=lambda t: (found[t], moved_rows(nest, t)))
    return [(found[tiling], tiling) for tiling in ranked]


def _first_tilings(nest: Nest, parts: tuple[int, ...], ahead: bool) -> Iterator[Tiling]:
    """With the axes in their order: each copy as far inside as it can be, and one of them before all loops."""
    looped = [a for a, axis in enumerate(nest.axes) if axis.kind == "S" and parts[a] < axis.tiles]
    order = loop_order(nest, looped)
    outer = Tiling(parts, order, ()).outer(nest)
    inner = tuple(max(copy_levels(copy, outer)) for copy in nest.copies)
    yield Tiling(parts, order, inner, ahead)
    for n, level in enumerate(inner):
        if level >= 0:
            yield Tiling(parts, order, (*inner[:n], -1, *inner[n + 1 :]), ahead)


def loop_order(nest: Nest, looped: Sequence[int]) -> tuple[int, ...]:
    """All axes: those that are not looped over, these in their order, and those of sums, which are innermost."""
    spatial = [a for a, axis in enumerate(nest.axes) if axis.kind == "S" and a not in looped]
    return (*spatial, *looped, *(a for a, axis in enumerate(nest.axes) if axis.kind != "S"))


def _sizes(axis: NestAxis) -> list[int]:
    """Sizes of equal parts of an axis, few of them; of a sum's axis that no instruction computes, one and all."""
    tiles = axis.tiles
    if axis.is_symbolic:
        return all_sizes(axis) if axis.tile > 1 else [1]
    if axis.tile == 1 and axis.kind != "S":
        return sorted({1, tiles})
    sizes = all_sizes(axis)
    even = [s for s in sizes if tiles % s == 0]
    if len(even) > _SIZES // 2:
        sizes = even
    wanted = [1, tiles, *(2**n for n in range(1, _SIZES - 1))]
    return sorted({min(sizes, key=lambda s: abs(s - w)) for w in wanted if w <= tiles})


def copy_levels(copy: CopiedOperand, outer: Sequence[int]) -> Iterator[int]:
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
    if nest.behind is not None:
        sizes = {n: tiling.parts[a] * nest.axes[a].tile for n, a in enumerate(nest.behind_axes)}
        for step in nest.behind.steps:
            if step.place is not None:
                used[step.place.memory] = used.get(step.place.memory, 0) + step.place.rows(sizes)
    return used


def result_rows(nest: Nest, parts: Sequence[int]) -> int:
    """The rows of the result of one part."""
    return nest.result.rows([parts[a] * nest.axes[a].tile for a in nest.result.indices])


def _sizes_of(nest: Nest, buffer: TiledBuffer, tiling: Tiling, fixed: Sequence[int]) -> list[int]:
    """The elements of a copied buffer in each dimension; `fixed`: the axes of which there is one part only. All parts
    of an axis whose extent a call decides fit no memory."""
    tiles = [tiling.parts[a] if a in fixed else _all_tiles(nest.axes[a]) for a in buffer.indices]
    return [count * nest.axes[a].tile for count, a in zip(tiles, buffer.indices, strict=True)]


def _all_tiles(axis: NestAxis) -> int:
    return _UNLIMITED if axis.is_symbolic else axis.tiles


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
            time += _boundary_cycles(nest, tiling, queued)
        trips = tiling.trips(nest, outer[level]) if level >= 0 else 1
        if tiling.ahead and level >= 0:
            time = trips * max(time + max(0.0, burst - queued), load) + load + latency
        else:
            time = trips * (time + load + latency * bool(here))
    return time


def _boundary_cycles(nest: Nest, tiling: Tiling, queued: int) -> float:
    """The cycles of a part before its first term and after its last one."""
    tiles = prod(tiling.parts[a] for a, axis in enumerate(nest.axes) if axis.kind == "S")
    fill = 0.0 if nest.fill is None else float(tiles * nest.fill.cycles)
    store = nest.store
    exposed = max(0, tiles - store.instruction.unit.queue) * store.cycles - queued
    behind = 0.0 if nest.behind is None else nest.behind.cycles_behind([tiling.parts[a] for a in nest.behind_axes])
    return fill + behind + max(0.0, float(exposed)) + store.cycles + store.instruction.latency
