"""Vector clocks: which accesses are ordered before a thread's present one, by any mix of barriers and asynchronous
agents.

Each thread of a block has a row of clocks, a column for each thread and for each asynchronous agent of the block:
what it knows to have happened. An agent is a sequence of asynchronous accesses that complete in order: the copies of
one mbarrier (by phase), the copies or the bulk copies of one thread (by group), the products of a warpgroup (by group).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tir_mlir.errors import PtxError
from tir_mlir.ptx.registers import Lanes

if TYPE_CHECKING:
    from tir_mlir.ptx.machine import Machine
    from tir_mlir.ptx.parser import Kernel


# Which accesses are ordered before a thread's present one: epochs between barriers of the whole block.
#
# A stamp is one integer: clock << 40 | instruction << 24 | lane. The clock of a lane is the number of barriers of its
# block.


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


MBARRIERS = 64
"""mbarriers of a block that the machine tells apart."""


class Clocks:
    """The clocks of all lanes. `known[lane, column]`: the clock of the column that the lane knows of; `fenced`: the
    part of it that is visible to the asynchronous proxy."""

    def __init__(self, blocks: range, width: int, kernel: Kernel):
        self.width = width
        parts = {".".join(i.parts[:2]) for i in kernel.instructions}
        self.names: list[str] = [""] * width
        self.agents: dict[tuple[int, str, int], int] = {}
        copies = [i.parts for i in kernel.instructions if i.parts[0] == "cp"]
        single = any("bulk" not in p for p in copies)
        bulk = any("bulk_group" in p for p in copies)
        self.copies = self._columns("asynchronous copy of a thread", width if single else 0)
        self.groups = self._columns("bulk copy of a thread", width if bulk else 0)
        self.products = self._columns("wgmma of a warpgroup", -(-width // 128) if "wgmma.mma_async" in parts else 0)
        self.mbarriers = self._columns("copy of an mbarrier", MBARRIERS if "mbarrier.init" in parts else 0)
        self.count = len(self.names)
        self.bits = (self.count - 1).bit_length()
        self.index = lanes = np.arange(len(blocks) * width)
        self.block_of = lanes // width + blocks.start
        self.thread_of = lanes % width
        self.own = (self.block_of << self.bits) + self.thread_of
        self.known = np.zeros((len(lanes), self.count), np.int32)
        self.known[lanes, self.thread_of] = 1
        proxies = bulk or "wgmma.mma_async" in parts
        self.fenced = np.zeros_like(self.known) if proxies else None
        if blocks.stop << self.bits > LANE:
            raise PtxError("too many threads for the machine", "launch")

    def _columns(self, name: str, count: int) -> int:
        """Add columns; returns the first."""
        first = len(self.names)
        self.names += [name] * count
        return first

    # --- stamps ---

    def stamp(self, lanes: Lanes, pc: int) -> np.ndarray:
        """The stamps of accesses by the instruction at `pc`."""
        clock = self.known[self.index[lanes], self.thread_of[lanes]].astype(np.int64)
        return (clock << CLOCK) + self.own[lanes] + (pc << PLACE)

    def readers(self) -> np.ndarray:
        """The row of each column in a table of readers of shared memory: one for each warp, for the bulk copies of
        each warp, and for each warpgroup's products. Other agents only write."""
        rows = np.zeros(self.count, np.int64)
        warps = self.width // 32
        rows[: self.width] = np.arange(self.width) // 32
        row = warps
        for first, last in ((self.groups, self.products), (self.products, self.mbarriers)):
            width = 32 if first == self.groups else 1
            rows[first:last] = row + np.arange(last - first) // width
            row += (last - first) // width
        return rows

    def agent_stamps(self, lanes: Lanes, columns: np.ndarray | int, clocks: np.ndarray | int, pc: int) -> np.ndarray:
        """The stamps of accesses of asynchronous agents of the blocks of these lanes."""
        blocks = self.block_of[lanes].astype(np.int64) << self.bits
        return (np.asarray(clocks, np.int64) << CLOCK) + (pc << PLACE) + blocks + columns

    def _parts(self, stamps: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        lane = stamps & LANE
        return lane >> self.bits, np.minimum(lane & ((1 << self.bits) - 1), self.count - 1), stamps >> CLOCK

    def unordered_mask(self, stamps: np.ndarray, lanes: Lanes) -> np.ndarray:
        """Which stamps are of the same block and not known to the lane."""
        if not stamps.any():
            return np.zeros(stamps.shape, np.bool_)
        block, column, clock = self._parts(stamps)
        mine = self.index[lanes].reshape(-1, *[1] * (stamps.ndim - 1))
        return (stamps > HOST) & (block == self.block_of[mine]) & (clock > self.known[mine, column])

    def unfenced_mask(self, stamps: np.ndarray, lanes: Lanes) -> np.ndarray:
        """Which stamps are of accesses by the generic proxy, plain ones and `cp.async`, of the block that the
        asynchronous proxy does not see yet."""
        assert self.fenced is not None
        block, column, clock = self._parts(stamps)
        mine = self.index[lanes]
        generic = (stamps > HOST) & (block == self.block_of[mine]) & (column < self.groups)
        return generic & (clock > self.fenced[mine, column])

    def other_block_mask(self, stamps: np.ndarray, lanes: Lanes) -> np.ndarray:
        """Which stamps are of another block."""
        return (stamps > HOST) & ((stamps & LANE) >> self.bits != self.block_of[lanes])

    # --- synchronization ---

    def matrices(self) -> list[np.ndarray]:
        return [self.known] if self.fenced is None else [self.known, self.fenced]

    def tick(self, lanes: Lanes) -> None:
        """What these lanes do from now on is not covered by what they reported before."""
        self.known[self.index[lanes], self.thread_of[lanes]] += 1

    def synchronize(self, came: np.ndarray, waiting: np.ndarray) -> None:
        """In each block, the lanes that remain learn what those that came know."""
        for block in np.unique(self.block_of[came]):
            came_here = came[self.block_of[came] == block]
            learn = waiting[self.block_of[waiting] == block]
            for matrix in self.matrices():
                matrix[learn] = np.maximum(matrix[learn], matrix[came_here].max(0))
        self.tick(came)

    def warps(self, rows: np.ndarray, members: np.ndarray) -> None:
        """In each warp, the wanted lanes learn what the others of them know."""
        for lanes, some in zip(rows, members, strict=False):
            for matrix in self.matrices():
                matrix[lanes[some]] = matrix[lanes[some]].max(0)
        self.tick(rows[members])

    def tell(self, lanes: np.ndarray) -> np.ndarray:
        """What these lanes know, as a message [known, fenced]; later accesses of theirs are not part of it."""
        message = np.stack([matrix[lanes].max(0) for matrix in self.matrices()])
        self.tick(lanes)
        return message

    def learn(self, lanes: Lanes, message: np.ndarray | None) -> None:
        """These lanes know of a message."""
        if message is not None:
            for matrix, row in zip(self.matrices(), message, strict=False):
                matrix[lanes] = np.maximum(matrix[lanes], row)

    def complete(self, lanes: np.ndarray, columns: np.ndarray | int, clocks: np.ndarray | int) -> None:
        """These lanes know that agents have completed their accesses up to a clock. Those of `cp.async` are by the
        generic proxy: the asynchronous one sees them after a fence only."""
        for matrix in self.matrices():
            done = clocks if matrix is self.known else np.where(np.asarray(columns) < self.groups, 0, clocks)
            matrix[lanes, columns] = np.maximum(matrix[lanes, columns], done)

    def fence(self, lanes: Lanes) -> None:
        """`fence.proxy.async`: what these lanes know is visible to the asynchronous proxy."""
        if self.fenced is not None:
            self.fenced[lanes] = np.maximum(self.fenced[lanes], self.known[lanes])
            self.tick(lanes)

    def mbarrier_column(self, block: int, address: int) -> int | None:
        """The column of the copies of an mbarrier; None: there are too many."""
        key = (block, "mbarrier", address)
        if key not in self.agents:
            count = sum(1 for b, kind, _ in self.agents if b == block and kind == "mbarrier")
            if count == MBARRIERS:
                return None
            self.agents[key] = self.mbarriers + count
        return self.agents[key]

    def describe(self, stamp: int, machine: Machine) -> tuple[str, int, tuple, tuple]:
        """A stamp: who in words, the position of the instruction, the threads, the block."""
        block, column = divmod(stamp & LANE, 1 << self.bits)
        position = (stamp >> PLACE) & 0xFFFF
        where = machine.coordinates(block, machine.grid)
        if column >= self.width:
            return f"an asynchronous {self.names[column].removeprefix('asynchronous ')}", position, (), where
        thread = machine.coordinates(column, machine.block)
        return f"thread {thread}", position, (thread,), where


def needs_clocks(kernel: Kernel) -> bool:
    """Whether a kernel has more than barriers of the whole block."""
    for ins in kernel.instructions:
        if ins.parts[0] in ("mbarrier", "cp", "wgmma", "fence"):
            return True
        if ins.parts[0] in ("bar", "barrier") and ("warp" in ins.parts or len(ins.operands) > 1):
            return True
    return False
