"""Who accessed each granule of a memory last: finds races and reads of what nobody wrote.

A granule is as large as the smallest access of the kernel to this memory. Plain writes conflict with every access of
another thread, atomic ones with plain accesses only.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tir_mlir.ptx.clocks import Clocks
from tir_mlir.ptx.order import HOST, LANE, NEVER, Epochs
from tir_mlir.ptx.registers import Lanes

Values = Callable[[], np.ndarray]
"""What the lanes of a store write, [lane, element], as bits."""
Report = Callable[[str, int, int, int, str], None]
"""Raises the error of a race: what, the lane, its address, the other stamp, the other's access."""


class AccessSet:
    """Accesses that do not conflict with each other: of each granule the last one, and one of another thread of the
    same epoch; for memory that all blocks see also the first one, and one of another block."""

    def __init__(self, granules: int, order: Epochs | Clocks, across_blocks: bool):
        self.order = order
        self.last = np.zeros(granules, np.int64)
        self.second = np.zeros(granules, np.int64)
        self.first = np.zeros(granules, np.int64) if across_blocks else None
        self.abroad = np.zeros(granules, np.int64) if across_blocks else None
        self.used = False

    def add(self, lanes: Lanes, index: np.ndarray, stamps: np.ndarray) -> None:
        """Record accesses; several lanes may access one granule."""
        self.used = True
        previous = self.last[index]
        shared = self.order.unordered_mask(previous, lanes)
        if shared.any():
            self.second[index[shared]] = previous[shared]
        self.last[index] = stamps
        lost = self.last[index] != stamps
        if lost.any():
            self.second[index[lost]] = stamps[lost]
        if self.first is not None and self.abroad is not None:
            first = self.first[index]
            new = first == 0
            if new.any():
                self.first[index[new]] = stamps[new]
                first = self.first[index]
            abroad = self.order.other_block_mask(first, lanes)
            if abroad.any():
                self.abroad[index[abroad]] = stamps[abroad]

    def conflicts(self, lanes: Lanes, index: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
        """Which lanes conflict with a recorded access, and its stamps."""
        if not self.used:
            return None
        for records in (self.last, self.second):
            stamps = records[index]
            bad = self.order.unordered_mask(stamps, lanes)
            if bad.any():
                return bad, stamps
        for records in (self.first, self.abroad):
            if records is not None:
                stamps = records[index]
                bad = self.order.other_block_mask(stamps, lanes)
                if bad.any():
                    return bad, stamps
        return None


class WarpAccessSet(AccessSet):
    """The same beneath vector clocks, for shared memory: of each granule the last access of each warp, and one of
    another lane of this warp; asynchronous agents have rows of their own."""

    def __init__(self, granules: int, order: Clocks):
        self.order = order
        self.slots = order.readers()
        self.mask = (1 << order.bits) - 1
        slots = int(self.slots.max()) + 1
        self.last = np.zeros((granules, slots), np.int64)
        self.second = np.zeros((granules, slots), np.int64)
        self.used = False

    def add(self, lanes: Lanes, index: np.ndarray, stamps: np.ndarray) -> None:
        self.used = True
        slot = self.slots[stamps & self.mask]
        previous = self.last[index, slot]
        older = (previous != 0) & (((previous ^ stamps) & LANE) != 0)
        if older.any():
            self.second[index[older], slot[older]] = previous[older]
        self.last[index, slot] = stamps
        lost = self.last[index, slot] != stamps
        if lost.any():
            self.second[index[lost], slot[lost]] = stamps[lost]

    def conflicts(self, lanes: Lanes, index: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
        if not self.used:
            return None
        for records in (self.last, self.second):
            stamps = records[index]
            bad = self.order.unordered_mask(stamps, lanes)
            if bad.any():
                return np.any(bad, 1), np.take_along_axis(stamps, bad.argmax(1)[:, None], 1)[:, 0]
        return None


class Private:
    """The shadow of local memory: which granules the thread has written."""

    def __init__(self, size: int, granule: int, report: Report):
        self.shift = granule.bit_length() - 1
        self.written = np.zeros((size >> self.shift) + 1, np.bool_)
        self.report = report

    def read(self, lanes: Lanes, index: np.ndarray, size: int, pc: int) -> None:
        for granule in _granules(index, size, self.shift):
            bad = ~self.written[granule]
            if bad.any():
                k = int(np.argmax(bad))
                self.report("unwritten", k, int(granule[k]), NEVER, "reads")

    def write(self, lanes: Lanes, index: np.ndarray, size: int, pc: int, *, values: Values | None = None) -> None:
        for granule in _granules(index, size, self.shift):
            self.written[granule] = True

    def change(self, lanes: Lanes, index: np.ndarray, size: int, pc: int) -> None:
        self.read(lanes, index, size, pc)

    def continue_with(self, order: Epochs | Clocks) -> None:
        """Local memory is of one launch of blocks."""


def _granules(index: np.ndarray, size: int, shift: int) -> list[np.ndarray]:
    """The granules of accesses of `size` bytes."""
    first = index >> shift
    return [first + j if j else first for j in range(max(1, size >> shift))]


def _clash_mask(stamps: np.ndarray, granule: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Which accesses to a granule that others access too are by lanes of several warps, or with several values: of
    equal values of a warp it does not matter whose is stored."""
    _, first, inverse = np.unique(granule, return_index=True, return_inverse=True)
    other = first[inverse]
    warps = (stamps & LANE) // 32
    differs = (values != values[other]).any(1) | (warps != warps[other])
    return np.bincount(inverse, differs)[inverse] > 0


class Shadow:
    """The shadow of a memory of `size` bytes. `across_blocks`: all blocks see the memory."""

    def __init__(self, size: int, granule: int, order: Epochs | Clocks, across_blocks: bool, report: Report):
        self.shift = granule.bit_length() - 1
        granules = (size >> self.shift) + 1
        self.order, self.across, self.report = order, across_blocks, report
        self.writes = np.full(granules, NEVER, np.int64)
        if isinstance(order, Clocks) and not across_blocks:
            self.reads: AccessSet = WarpAccessSet(granules, order)
            self.atomics: AccessSet = WarpAccessSet(granules, order)
        else:
            self.reads = AccessSet(granules, order, across_blocks)
            self.atomics = AccessSet(granules, order, across_blocks)

    def continue_with(self, order: Epochs | Clocks) -> None:
        """Continue with the next blocks of the launch."""
        self.order = self.reads.order = self.atomics.order = order

    def mark_written(self, start: int, end: int) -> None:
        """These bytes were written before the launch."""
        self.writes[start >> self.shift : -(-end >> self.shift)] = HOST

    def _writers(self, lanes: Lanes, index: np.ndarray, what: str, unwritten: bool) -> None:
        """Conflicts with plain writes."""
        stamps = self.writes[index]
        if unwritten and stamps.min() < 0:
            self.report("unwritten", int(np.argmin(stamps)), int(index[np.argmin(stamps)]), NEVER, what)
        bad = self.order.unordered_mask(stamps, lanes)
        if not bad.any() and self.across and (stamps > HOST).any():
            bad = self.order.other_block_mask(stamps, lanes)
        if bad.any():
            k = int(np.argmax(bad))
            self.report(f"{what} after write", k, int(index[k]), int(stamps[k]), "wrote")

    def _set(self, accesses: AccessSet, lanes: Lanes, index: np.ndarray, what: str, verb: str) -> None:
        conflict = accesses.conflicts(lanes, index)
        if conflict is not None:
            k = int(np.argmax(conflict[0]))
            self.report(what, k, int(index[k]), int(conflict[1][k]), verb)

    def read(self, lanes: Lanes, index: np.ndarray, size: int, pc: int, stamp: np.ndarray | None = None) -> None:
        """Plain reads of `size` bytes at these addresses; with a stamp, of an asynchronous agent."""
        stamps = self.order.stamp(lanes, pc) if stamp is None else np.broadcast_to(stamp, index.shape)
        for granule in _granules(index, size, self.shift):
            self._writers(lanes, granule, "reads", True)
            self._set(self.atomics, lanes, granule, "reads", "changed atomically")
            self.reads.add(lanes, granule, stamps)

    def write(
        self,
        lanes: Lanes,
        index: np.ndarray,
        size: int,
        pc: int,
        stamp: np.ndarray | None = None,
        values: Values | None = None,
    ) -> None:
        """Plain writes of `size` bytes at these addresses; with stamps, of an asynchronous agent. `values`: what each
        lane writes: lanes of one warp may write one value to one address."""
        stamps = self.order.stamp(lanes, pc) if stamp is None else np.broadcast_to(stamp, index.shape)
        for granule in _granules(index, size, self.shift):
            self._writers(lanes, granule, "writes", False)
            self._set(self.reads, lanes, granule, "writes", "read")
            self._set(self.atomics, lanes, granule, "writes", "changed atomically")
            self.writes[granule] = stamps
            lost = self.writes[granule] != stamps
            if lost.any() and values is not None:
                lost &= _clash_mask(stamps, granule, values())
            if lost.any():
                k = int(np.argmax(lost))
                self.report("writes", k, int(granule[k]), int(self.writes[granule[k]]), "writes at the same time")

    def check_visibility(self, lanes: Lanes, index: np.ndarray, size: int) -> None:
        """Refuse asynchronous reads of what plain writes wrote without a proxy fence since."""
        assert isinstance(self.order, Clocks)
        for granule in _granules(index, size, self.shift):
            stamps = self.writes[granule]
            bad = self.order.unfenced_mask(stamps, lanes)
            if bad.any():
                k = int(np.argmax(bad))
                self.report("proxy", k, int(granule[k]), int(stamps[k]), "wrote")

    def change(self, lanes: Lanes, index: np.ndarray, size: int, pc: int) -> None:
        """Atomic changes of `size` bytes at these addresses."""
        stamps = self.order.stamp(lanes, pc)
        for granule in _granules(index, size, self.shift):
            self._writers(lanes, granule, "changes", True)
            self._set(self.reads, lanes, granule, "changes", "read")
            self.atomics.add(lanes, granule, stamps)
