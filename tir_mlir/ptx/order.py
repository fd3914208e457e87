"""Which accesses are ordered before a thread's present one: epochs between barriers of the whole block.

A stamp is one integer: clock << 40 | instruction << 24 | lane. The clock of a lane is the number of barriers of its
block.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tir_mlir.ptx.registers import Lanes

if TYPE_CHECKING:
    from tir_mlir.ptx.machine import Machine

CLOCK, PLACE = 40, 24
LANE = (1 << PLACE) - 1
NEVER, HOST = -1, 0
"""Stamps of what nobody wrote, and of what was there before the launch."""


class Epochs:
    """Threads of a block are ordered by barriers of the whole block only."""

    def __init__(self, blocks: range, width: int):
        self.width = width
        self.own = np.arange(blocks.start * width, blocks.stop * width, dtype=np.int64)
        self.floor = np.full(len(self.own), 1 << CLOCK, np.int64)
        self.marks = self.floor | self.own
        self.block_of = self.own // width

    def stamp(self, lanes: Lanes, pc: int) -> np.ndarray:
        """The stamps of accesses by the instruction at `pc`."""
        return self.marks[lanes] + (pc << PLACE)

    def synchronize(self, came: np.ndarray, waiting: np.ndarray) -> None:
        """All threads of some blocks have waited for each other."""
        self.floor[came] += 1 << CLOCK
        self.marks[came] += 1 << CLOCK

    def unordered_mask(self, stamps: np.ndarray, lanes: Lanes) -> np.ndarray:
        """Which stamps are of another thread of the same block, after the last barrier."""
        late = stamps >= self.floor[lanes]
        if late.any():
            late &= (stamps & LANE) != self.own[lanes]
        return late

    def other_block_mask(self, stamps: np.ndarray, lanes: Lanes) -> np.ndarray:
        """Which stamps are of another block."""
        return (stamps > HOST) & ((stamps & LANE) // self.width != self.block_of[lanes])

    def describe(self, stamp: int, machine: Machine) -> tuple[str, int, tuple, tuple]:
        """A stamp: who in words, the position of the instruction, the threads, the block."""
        block, thread = divmod(stamp & LANE, self.width)
        threads = machine.coordinates(thread, machine.block)
        return f"thread {threads}", (stamp >> PLACE) & 0xFFFF, (threads,), machine.coordinates(block, machine.grid)
