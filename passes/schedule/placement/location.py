"""The special locations that `sample_compute_location` can choose instead of a loop."""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum

from tir_mlir.dialect.ir import Block


class SpecialLocation(IntEnum):
    """A compute location that is not a loop: inlined into the consumers (or the producer), or left in place."""

    INLINE = -2
    ROOT = -1


def move_to_special(block: Block, mark: SpecialLocation, inline: Callable[[Block], None]) -> None:
    """Move a block to a special location: inline it, or do nothing."""
    if mark is SpecialLocation.INLINE:
        inline(block)
