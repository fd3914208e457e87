"""The memories of a launch: their bytes, bounds, and the checks and counts of each access."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tir_mlir.ptx.clocks import HOST, LANE, NEVER, Clocks, Epochs
from tir_mlir.ptx.registers import Lanes
from tir_mlir.ptx.types import UNSIGNED

if TYPE_CHECKING:
    from tir_mlir.ptx.instructions.loads import Memory
    from tir_mlir.ptx.machine import Machine
    from tir_mlir.ptx.parser import PtxInstruction


WINDOWS = {"global": 1 << 40, "shared": 1 << 56, "local": 1 << 57, "param": 1 << 58, "const": 1 << 59}
"""Where each memory starts in generic addresses. Addresses of `global` and `const` instructions are generic ones."""
GAP = 4096
"""Bytes between two arguments, and at most between two variables: an access that runs over hits nothing."""

_FIRST = 1024
"""Where the first variable of a shared or local memory is."""


@dataclass(frozen=True)
class MemoryRange:
    """A part of a memory that may be accessed: bytes start .. end of what `name` stands for."""

    start: int
    end: int
    name: str


class Space:
    """A memory. `base`: where the part of each lane starts (None: one for all)."""

    def __init__(self, machine: Machine, name: str, regions: list[MemoryRange], copies: int, base: np.ndarray | None):
        self.machine, self.name, self.regions = machine, name, regions
        self.extent = -(-max([r.end for r in regions], default=0) // 128) * 128 + 128
        self.data = np.zeros(self.extent * copies, np.uint8)
        self.base = None if base is None else base * self.extent
        self.window = 0 if self.base is not None else WINDOWS[name]
        self.shadow: Shadow | Private | None = None
        self.starts = np.array([r.start for r in regions], np.int64)
        self.ends = np.array([r.end for r in regions], np.int64)

    def flat(self, lanes: Lanes, address: np.ndarray, size: int, verb: str, needed: int = 0) -> np.ndarray:
        """Addresses -> positions in `data`, checked. needed: how many of the bytes matter, 0: all."""
        position = address - self.window if self.window else address
        if not position.size:
            return position
        if size > 1 and (position & (size - 1)).any():
            k = int(np.argmax((position & (size - 1)) != 0))
            self.machine.fault(
                f"thread {self.machine.thread(lanes, k)} {verb} {size} bytes of {self.where(int(position[k]))}, "
                f"which is not aligned to {size} bytes",
                "alignment", lanes, k,
            )  # fmt: skip
        size = needed or size
        low, high = int(position.min()), int(position.max()) + size
        region = next((r for r in self.regions if r.start <= low and high <= r.end), None)
        if region is None:
            self._check_bounds(lanes, position, size, verb)
        return position if self.base is None else position + self.base[lanes]

    def _check_bounds(self, lanes: Lanes, position: np.ndarray, size: int, verb: str) -> None:
        index = np.searchsorted(self.starts, position, side="right") - 1
        bad = index < 0
        if self.regions:
            bad |= position + size > self.ends[index]
        if bad.any():
            k = int(np.argmax(bad))
            self.machine.fault(
                f"thread {self.machine.thread(lanes, k)} {verb} {size} bytes outside of its memory: "
                f"{self.where(int(position[k]))}",
                "bounds", lanes, k,
            )  # fmt: skip

    @property
    def records(self) -> Shadow:
        """The shadow of a memory that threads share."""
        assert isinstance(self.shadow, Shadow)
        return self.shadow

    def where(self, position: int) -> str:
        """A byte in words: byte 12 of shared `A_shared` (4096 bytes)."""
        near = [r for r in self.regions if r.start - GAP // 2 <= position < r.end + GAP // 2]
        if not near:
            return f"{self.name} address {position + self.window:#x}"
        region = min(near, key=lambda r: max(r.start - position, position - r.end + 1, 0))
        name = region.name.partition("$_")[0]  # LLVM's parts of a buffer
        return f"byte {position - region.start} of {self.name} `{name}` ({region.end - region.start} bytes)"

    def attach(self, granule: int, across: bool) -> None:
        """Give the memory a shadow."""
        if self.name == "local":
            self.shadow = Private(len(self.data), granule, self.conflict)
        else:
            self.shadow = Shadow(len(self.data), granule, self.machine.order, across, self.conflict)

    def conflict(self, what: str, k: int, granule: int, stamp: int, verb: str) -> None:
        """Raise the error of a race or of a read of what nobody wrote; while uses of loads are followed, go on."""
        machine, lanes = self.machine, self.machine.active
        positions = [machine.at, *([machine.order.describe(stamp, machine)[1]] if verb == "read" else [])]
        machine.conflicts |= {p for p in positions if machine.may_drop(p)}
        if machine.uses is not None:
            return
        assert self.shadow is not None
        byte = granule << self.shadow.shift
        if self.base is not None:
            byte -= int(self.base[machine.index(lanes)[k]])
        me = f"thread {machine.thread(lanes, k)}"
        if stamp == NEVER:
            machine.fault(f"{me} reads {self.where(byte)}, which nobody wrote", "unwritten", lanes, k)
        who, instruction, threads, block = machine.order.describe(stamp, machine)
        mine = what.split()[0]
        own_block = machine.block_of(lanes, k)
        if what == "proxy":
            machine.fault(
                f"{self.where(byte)}, which {who} {verb}, is read asynchronously without a "
                "`fence.proxy.async` after the write", "race", lanes, k, threads, other_position=instruction,
            )  # fmt: skip
        if block != own_block:
            me, who = f"{me} of block {own_block}", f"{who} of block {block}"
        text = f"race: {me} {mine} {self.where(byte)}, which {who} {verb}"
        if block == own_block:
            text += "; no barrier orders the two"
        machine.fault(text, "race", lanes, k, threads, other_position=instruction)


def regions_of(sizes: list[tuple[str, int, int]], gap: int) -> list[MemoryRange]:
    """(name, bytes, alignment) -> regions with a gap after each. None starts at 0, as on chips from sm_90 on, so that
    an address that is added twice is another one."""
    regions, position = [], _FIRST
    for name, size, alignment in sizes:
        unit = max(alignment, 128)
        position = -(-position // unit) * unit
        regions.append(MemoryRange(position, position + size, name))
        position += size + gap
    return regions


Access = Callable[[Lanes], None]


def load(machine: Machine, ins: PtxInstruction, space: Memory, type_: str, outs: list[str], address: str) -> Access:
    """`ld.space.type {outs}, [address]` for a memory with a shadow."""
    size = np.dtype(machine.dtype(type_)).itemsize
    total, count = size * len(outs), len(outs)
    read = machine.registers.address(address, ins)
    puts = [machine.registers.write(o, type_, ins) for o in outs]
    data = space.data[: len(space.data) // total * total].view(machine.dtype(type_)).reshape(-1, count)
    shift = total.bit_length() - 1
    pc, count_access = machine.position_of(ins), machine.report.access(ins, space.name, total)
    shadow, counted = space.shadow, space.name != "local"
    # LLVM widens a load past the end of a variable, as far as it is aligned: into registers that nothing reads
    needed = size * max([n + 1 for n, o in enumerate(outs) if machine.mentions[o] > 1], default=1)

    uses = machine.checked.execution_filter(machine, pc, count)

    def check(shadow: Shadow | Private, on: Lanes, position: np.ndarray) -> None:
        if uses is None:
            shadow.read(machine.active, position, needed, pc)
            return
        lanes = machine.own[on]
        for k, used in enumerate(uses(lanes).T):
            if used.any():
                machine.active = lanes[used]
                shadow.read(machine.active, position[used] + k * size, size, pc)
        machine.active = on

    def run(on: Lanes) -> None:
        address = read(on)
        position = space.flat(on, address, total, "reads", needed)
        if shadow is not None:
            check(shadow, on, position)
            if counted:
                count_access(on, address)
        rows = data[position >> shift]
        for k in range(count):
            puts[k](on, rows[:, k])

    return run


def store(machine: Machine, ins: PtxInstruction, space: Memory, type_: str, address: str, values: list[str]) -> Access:
    """`st.space.type [address], {values}` for a memory with a shadow."""
    size = np.dtype(machine.dtype(type_)).itemsize
    total, count = size * len(values), len(values)
    read = machine.registers.address(address, ins)
    gets = [machine.registers.read(v, type_, ins) for v in values]
    data = space.data[: len(space.data) // total * total].view(machine.dtype(type_)).reshape(-1, count)
    shift = total.bit_length() - 1
    pc, count_access = machine.position_of(ins), machine.report.access(ins, space.name, total)
    shadow, counted = space.shadow, space.name != "local"

    unsigned = UNSIGNED[size]

    def run(on: Lanes) -> None:
        address = read(on)
        position = space.flat(on, address, total, "writes")
        if shadow is not None:
            shadow.write(on, position, total, pc, values=lambda: np.stack([g(on).view(unsigned) for g in gets], 1))
            if counted:
                count_access(on, address)
        row = position >> shift
        for k in range(count):
            data[row, k] = gets[k](on)

    return run


# Who accessed each granule of a memory last: finds races and reads of what nobody wrote.
#
# A granule is as large as the smallest access of the kernel to this memory. Plain writes conflict with every access of
# another thread, atomic ones with plain accesses only.


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
