"""How a nest may be tiled, and what that costs: rows of each memory, and cycles by a sum over its loops."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations, product
from math import prod

from tir_mlir.accel.mapping.axes import NestAxis, all_sizes
from tir_mlir.accel.mapping.nest import CopiedOperand, Nest, TiledBuffer
from tir_mlir.accel.mapping.roles import Role
from tir_mlir.accel.operands import ExecutionUnit, MemorySpace

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
    starts: bool = False
    """Whether the start values of sums do, too: then the result exists twice."""

    def trips(self, nest: Nest, axis: int) -> int:
        """The iterations of the loop over the parts of an axis."""
        return -(-nest.axes[axis].tiles // self.parts[axis])

    def outer(self, nest: Nest) -> list[int]:
        """The axes of the loops over parts."""
        return [a for a in self.order if self.trips(nest, a) > 1]

    def last_spatial(self, nest: Nest) -> int:
        """The innermost loop over parts of the result, by its number; -1 if there is none."""
        return max((n for n, a in enumerate(self.outer(nest)) if nest.axes[a].kind == "S"), default=-1)

    def starts_ahead(self, nest: Nest) -> bool:
        """Whether start values are set an iteration ahead of the sums."""
        can_start = nest.fill is not None and nest.behind is None
        return self.starts and can_start and self.last_spatial(nest) >= 0

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
                for starts in _start_times(nest, ahead):
                    tiling = Tiling(parts, whole.order, levels, ahead, starts)
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
    for starts in _start_times(nest, ahead):
        yield Tiling(parts, order, inner, ahead, starts)
        for n, level in enumerate(inner):
            if level >= 0:
                yield Tiling(parts, order, (*inner[:n], -1, *inner[n + 1 :]), ahead, starts)


def _start_times(nest: Nest, ahead: bool) -> list[bool]:
    """Whether start values of sums may be set ahead."""
    return [False, True] if ahead and nest.fill is not None and nest.behind is None else [False]


def loop_order(nest: Nest, looped: Sequence[int]) -> tuple[int, ...]:
    """All axes: those that are not looped over, these in their order, and those of sums, which are innermost."""
    spatial = [a for a, axis in enumerate(nest.axes) if axis.kind == "S" and a not in looped]
    return (*spatial, *looped, *(a for a, axis in enumerate(nest.axes) if axis.kind != "S"))


def _sizes(axis: NestAxis) -> list[int]:
    """Sizes of equal parts of an axis, few of them; of a sum's axis that no instruction computes, one and all."""
    tiles = axis.tiles
    if axis.is_symbolic:
        return all_sizes(axis) if axis.tile > 1 else [1]
    if axis.part is not None:
        return [axis.part]
    if axis.tile == 1 and axis.kind != "S":
        return sorted({1, tiles})
    sizes = all_sizes(axis)
    even = [s for s in sizes if tiles % s == 0]
    if len(even) > _SIZES // 2:
        sizes = even
    wanted = [1, tiles, *(2**n for n in range(1, _SIZES - 1))]
    return sorted({min(sizes, key=lambda s: abs(s - w)) for w in wanted if w <= tiles})


def copy_levels(copy: CopiedOperand, outer: Sequence[int]) -> Iterator[int]:
    """The loops in which a copy may be: those that its elements depend on, and before all; of one of joined rows, where
    there is one group of them."""
    first = outer.index(copy.group) if copy.group is not None and copy.group in outer else -1
    yield from (n for n in range(first, len(outer)) if n < 0 or n == first or outer[n] in copy.buffer.axes)


def fits(nest: Nest, tiling: Tiling) -> bool:
    """Whether the buffers of a nest fit the memories."""
    return all(rows <= memory.rows for memory, rows in used_rows(nest, tiling).items())


def used_rows(nest: Nest, tiling: Tiling) -> dict[MemorySpace, int]:
    """The rows of each memory that a nest takes."""
    used = {nest.result.memory: result_rows(nest, tiling.parts) * (1 + tiling.starts_ahead(nest))}
    outer = tiling.outer(nest)
    for copy, level in zip(nest.copies, tiling.levels, strict=True):
        rows = copy.buffer.rows(_sizes_of(nest, copy.buffer, tiling, outer[: level + 1]))
        memory = copy.buffer.memory
        used[memory] = used.get(memory, 0) + rows * tiling.planes(level)
    if nest.behind is not None:
        sizes = {n: tiling.parts[a] * nest.axes[a].tile for n, a in enumerate(nest.behind_axes)}
        for step in nest.behind.steps:
            if step.place is not None and not step.is_in_place:
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
    return prod(copy.count(dim, size, tile.get(dim, 1)) for dim, size in enumerate(sizes))


def cycles(nest: Nest, tiling: Tiling) -> float:
    """About the cycles of a nest.

    From the inside out, a loop takes for each iteration what its body computes, or what is moved in it if that is more
    and runs ahead, by the program or by hardware that renames rows; instructions beyond what the queue of their unit
    holds keep all others from being issued, unless those that compute have enough in theirs.
    """
    outer, unit = tiling.outer(nest), nest.role.instruction.unit
    fixed, last = {*outer}, tiling.last_spatial(nest)
    time = float(nest.role.cycles) * prod(
        tiling.parts[a] if a in fixed else axis.tiles for a, axis in enumerate(nest.axes)
    )
    queued, first = float(unit.queue * nest.role.cycles), 0.0
    for level in range(len(outer) - 1, -2, -1):
        work = _Work(unit)
        for copy, at in zip(nest.copies, tiling.levels, strict=True):
            if at == level:
                work.add(copy.copy, _copies(nest, copy, tiling, outer[: level + 1]), copy.cycles)
        if level == last:
            time += _boundary_cycles(nest, tiling, queued, work, first)
        trips = tiling.trips(nest, outer[level]) if level >= 0 else 1
        here = [copy for copy, at in zip(nest.copies, tiling.levels, strict=True) if at == level]
        renamed = bool(here) and all(copy.buffer.memory.renamed for copy in here)
        if (tiling.ahead or renamed) and level >= 0:
            moved = work.longest + work.latency * (not renamed)  # the other plane is free when it was read
            time = trips * max(time + max(0.0, work.full_queue_cycles - queued), moved) + work.longest + work.latency
            first = work.longest + work.latency
        else:
            time = trips * (time + work.longest + work.latency)
    return time


class _Work:
    """What units beside the one that computes do in an iteration of a loop."""

    def __init__(self, computes: ExecutionUnit):
        self.computes = computes
        self.counts: dict[ExecutionUnit, tuple[int, float]] = {}
        self.latency = 0

    def add(self, role: Role, count: int, cycles: float) -> None:
        """Add instructions, with the cycles of one."""
        before, busy = self.counts.get(role.instruction.unit, (0, 0.0))
        self.counts[role.instruction.unit] = before + count, busy + count * cycles
        self.latency = max(self.latency, role.instruction.latency)

    @property
    def longest(self) -> float:
        """The cycles of the unit that has most to do."""
        return max((busy for _, busy in self.counts.values()), default=0.0)

    @property
    def full_queue_cycles(self) -> float:
        """The cycles for which no other instruction is issued, as the queue of a unit is full."""
        return sum(busy * max(0, n - unit.queue) / n for unit, (n, busy) in self.counts.items() if n)


def _boundary_cycles(nest: Nest, tiling: Tiling, queued: float, work: _Work, first: float) -> float:
    """The cycles of a part before its first term and after its last one; `work` gets what runs beside the sums. first:
    the cycles of the copies for the first terms, which are behind start values that units of copies set."""
    tiles = prod(tiling.parts[a] for a, axis in enumerate(nest.axes) if axis.kind == "S")
    fill, store = nest.fill, nest.store
    start = 0.0 if fill is None else float(tiles * fill.cycles)
    if fill is not None and fill.instruction.unit == work.computes:
        start = max(0.0, start - first)
    elif fill is not None and not tiling.starts_ahead(nest):
        start += fill.instruction.latency
    elif fill is not None and not first:
        work.add(fill, tiles, fill.cycles)
        start = 0.0
    if tiling.starts_ahead(nest):
        work.add(store, tiles, store.cycles)
        return start
    exposed = max(0, tiles - store.instruction.unit.queue) * store.cycles - queued
    behind = 0.0 if nest.behind is None else nest.behind.cycles_behind([tiling.parts[a] for a in nest.behind_axes])
    return start + behind + max(0.0, exposed) + store.cycles + store.instruction.latency
