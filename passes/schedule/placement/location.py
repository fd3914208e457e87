"""What `sample_compute_location` may choose besides a loop, and what it means to move a block there."""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum

from tir_mlir.dialect.ir import Block


class Mark(IntEnum):
    """A place that is no loop: where the block is read or written itself, or where it stands already."""

    INLINE = -2
    ROOT = -1


def move_to_mark(block: Block, mark: Mark, inline: Callable[[Block], None]) -> None:
    """A move to a mark: into its consumers (or producer), or nowhere."""
    if mark is Mark.INLINE:
        inline(block)
