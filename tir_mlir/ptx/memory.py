"""The memories of a launch: their bytes, bounds, and the checks and counts of each access."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tir_mlir.ptx.order import NEVER
from tir_mlir.ptx.registers import Lanes
from tir_mlir.ptx.shadow import Private, Shadow
from tir_mlir.ptx.types import UNSIGNED

if TYPE_CHECKING:
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
        """Addresses -> positions in `data`, checked. `used`: how many of the bytes matter, if not all."""
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


def load(machine: Machine, ins: PtxInstruction, space: Space, type_: str, outs: list[str], address: str) -> Access:
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

    uses = machine.checked.execution_filter(machine, pc)

    def check(on: Lanes, position: np.ndarray) -> None:
        if uses is not None:
            lanes = machine.own[on]
            used = uses(lanes)
            machine.active, position = lanes[used], position[used]
        if len(position):
            assert shadow is not None
            shadow.read(machine.active, position, needed, pc)
        machine.active = on

    def run(on: Lanes) -> None:
        address = read(on)
        position = space.flat(on, address, total, "reads", needed)
        if shadow is not None:
            check(on, position)
            if counted:
                count_access(on, address)
        rows = data[position >> shift]
        for k in range(count):
            puts[k](on, rows[:, k])

    return run


def store(machine: Machine, ins: PtxInstruction, space: Space, type_: str, address: str, values: list[str]) -> Access:
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
