"""A nest on several cores: each computes as many tiles of one axis, in memories of its own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import prod

from tir_mlir.accel.mapping.nest import Nest
from tir_mlir.accel.mapping.tiling import Tiling, tilings


@dataclass(frozen=True)
class CoreSplit:
    """The axis whose tiles cores share, and how many cores."""

    axis: int
    cores: int

    def part(self, nest: Nest) -> Nest:
        """What one core computes."""
        axis = nest.axes[self.axis]
        smaller = replace(axis, extent=axis.tiles // self.cores * axis.tile)
        return replace(nest, axes=(*nest.axes[: self.axis], smaller, *nest.axes[self.axis + 1 :]))


@dataclass(frozen=True)
class Placement:
    """A tiling of a nest, or of the part of it that one core computes."""

    cycles: float
    tiling: Tiling
    split: CoreSplit | None = None


def core_splits(nest: Nest, cores: int) -> Iterator[CoreSplit]:
    """The axes that as many cores as there are, or fewer, may share: spatial ones, with as many tiles for each.

    None where the CPU moves something: cores do not wait for it; or where rows of tiles are not padded, so that cores
    would have different numbers of them.
    """
    if nest.moves_parts:
        return
    by_cpu = any(c.by_cpu or (nest.pads(c.buffer.axes) and not c.copy.masks) for c in nest.copies)
    if by_cpu or (nest.pads(nest.result.axes) and not nest.store.masks):
        return
    for number, axis in enumerate(nest.axes):
        shared = max((n for n in range(1, cores + 1) if axis.tiles % n == 0), default=1)
        if axis.kind == "S" and shared > 1 and not axis.is_symbolic:
            yield CoreSplit(number, shared)


def least_cycles(nest: Nest, cores: int) -> float:
    """The cycles that no placement of a nest is below: those of what computes, on all cores at once."""
    return nest.role.cycles * prod(axis.tiles for axis in nest.axes) / cores


def placements(nest: Nest, cores: int) -> list[Placement]:
    """The tilings of a nest on one core and on several, the cheapest first; those of one axis are together."""
    found: list[list[Placement]] = []
    for split in (None, *(core_splits(nest, cores) if cores > 1 else ())):
        part = nest if split is None else split.part(nest)
        ranked = tilings(part, part.copies_ahead) or tilings(part, ahead=False)
        if ranked:
            found.append([Placement(cycles, tiling, split) for cycles, tiling in ranked])
    return [p for group in sorted(found, key=lambda group: group[0].cycles) for p in group]
