"""The axes of what is mapped, and how much of each one instruction computes."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class NestAxis:
    """An iter of the block: its extent, and how much of it one instruction computes."""

    name: str
    kind: str
    extent: int
    """Of one that a call decides: a number as a guess, for its costs."""
    tile: int
    is_symbolic: bool = False
    """Whether a call decides its extent."""
    is_limited: bool = False
    """Whether instructions compute, copy and store the part of a tile at its end that there is."""
    part: int | None = None
    """The tiles of each of its parts; None: any number."""
    has_part: bool = False
    """Whether an extent that a call decides may be no multiple of its tile."""

    @property
    def is_ragged(self) -> bool:
        """Whether its last tile may be a part of one."""
        return self.has_part if self.is_symbolic else bool(self.extent % self.tile)

    @property
    def is_padded(self) -> bool:
        """Whether it is padded to whole tiles."""
        return self.is_ragged and not self.is_limited

    @property
    def tiles(self) -> int:
        return -(-self.extent // self.tile)


_SYMBOLIC_SIZES = 4
"""Sizes of the parts of an axis that are tried if a call decides its extent."""


def all_sizes(axis: NestAxis) -> list[int]:
    """Sizes of equal parts of an axis, in tiles; of one whose extent a call decides, those of which there are many."""
    if axis.is_symbolic:
        return [2**n for n in range(_SYMBOLIC_SIZES)]
    if axis.part is not None:
        return [axis.part]
    return sorted({-(-axis.tiles // parts) for parts in range(1, axis.tiles + 1)})
