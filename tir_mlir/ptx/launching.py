"""Launches a kernel of a PTX text: arguments into memory, blocks in batches, results back into the arrays."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tir_mlir.errors import PtxError
from tir_mlir.ptx.machine import Machine, padded_width
from tir_mlir.ptx.memory import GAP, WINDOWS, MemoryRange
from tir_mlir.ptx.parser import Kernel, KernelParameter, Module, parse
from tir_mlir.ptx.report import Report
from tir_mlir.ptx.speculation import CheckedLoads, UseTracker
from tir_mlir.ptx.tensors import TensorMap
from tir_mlir.ptx.types import DTYPES

STEPS = 4_000_000
"""Branches and waits after which a launch is taken to be endless."""
LANES = 1 << 14
"""Threads that run together, in whole blocks."""
MAP_BYTES = 128
"""The size of a tensor map."""


def launch(
    module: Module | str,
    kernel: str,
    grid: Sequence[int],
    block: Sequence[int],
    args: Sequence[object],
    shared_bytes: int = 0,
    lines: Mapping[int, str] | None = None,
    unwritten: Sequence[int] = (),
) -> Report:
    """Run a kernel on the PTX machine; arrays of `args` are changed in place.

    `shared_bytes`: dynamic shared memory. `lines`: PTX line -> a text about its source, which errors cite instead of
    `.loc`. `unwritten`: positions of array arguments whose contents the kernel may not read before it writes them.
    Raises PtxError on a race, a missing or divergent barrier, a deadlock, a read of what nobody wrote, an access
    outside of the arguments or misaligned, an instruction that is not known; the arrays are then unchanged.
    """
    if isinstance(module, str):
        module = parse(module)
    if kernel not in module.kernels:
        raise PtxError(f"no kernel {kernel}; the text has {', '.join(module.kernels)}", "launch")
    entry = module.kernels[kernel]
    grid3, block3 = _three_sizes(grid, "grid"), _three_sizes(block, "block")
    _check_launch(entry, block3, args)
    memory = LaunchArguments(entry, args, unwritten)
    batches = _Batches(entry, grid3, block3, memory, shared_bytes)
    try:
        report, data = batches.run_checked()
    except PtxError as error:
        raise _add_caller_text(error, lines) from None
    memory.give_back(data)
    return report


@dataclass
class _Batches:
    """A launch: the blocks of a grid in batches. `conflicts`: the positions of loads in the faults of the last run."""

    kernel: Kernel
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    memory: LaunchArguments
    shared_bytes: int
    conflicts: frozenset[int] = frozenset()

    def run_checked(self) -> tuple[Report, np.ndarray]:
        """What the blocks do, and global memory. A load is checked in the threads that use its value."""
        checked = CheckedLoads()
        while True:
            try:
                return self.run(checked)
            except PtxError:
                if self.conflicts <= checked.loads:
                    raise
                followed = self._follow_loads(checked.loads | self.conflicts)
                if followed is None:
                    raise
                checked = followed

    def _follow_loads(self, loads: frozenset[int]) -> CheckedLoads | None:
        """The threads that use the values of these loads, and of all others whose check would fail; None: the launch
        does not come to its end."""
        while True:
            uses = UseTracker(loads)
            try:
                self.run(uses)
            except PtxError:
                return None
            if self.conflicts <= loads:
                return CheckedLoads(loads, uses.used)
            loads |= self.conflicts

    def run(self, loads: CheckedLoads | UseTracker) -> tuple[Report, np.ndarray]:
        """Run all batches once."""
        self.conflicts = frozenset()
        report, previous = None, None
        for part in self._parts():
            machine = Machine(
                self.kernel, self.grid, self.block, part, self.memory, self.shared_bytes, STEPS, previous, loads
            )
            try:
                done = machine.run()
            finally:
                self.conflicts |= machine.conflicts
            previous = machine.spaces["global"]
            if report is None:
                report = done
            else:
                report.merge(done)
        assert report is not None and previous is not None
        return report, previous.data

    def _parts(self) -> Iterator[range]:
        blocks = self.grid[0] * self.grid[1] * self.grid[2]
        batch = max(1, LANES // padded_width(self.kernel, self.block[0] * self.block[1] * self.block[2]))
        return (range(first, min(first + batch, blocks)) for first in range(0, blocks, batch))


def _three_sizes(sizes: Sequence[int], what: str) -> tuple[int, int, int]:
    """(4,) -> (4, 1, 1)."""
    x, y, z = ([int(s) for s in sizes] + [1, 1, 1])[:3]
    if min(x, y, z) < 1 or len(sizes) > 3:
        raise PtxError(f"the {what} {tuple(sizes)} has to be one to three positive sizes", "launch")
    return x, y, z


def _check_launch(kernel: Kernel, block: tuple[int, int, int], args: Sequence[object]) -> None:
    """Refuse another block size than the kernel was compiled for, and a wrong number of arguments."""
    threads = block[0] * block[1] * block[2]
    if kernel.block is not None:
        most = kernel.block[0] * kernel.block[1] * kernel.block[2]
        if (kernel.exact_block and block != kernel.block) or threads > most:
            raise PtxError(f"kernel {kernel.name} is compiled for blocks of {kernel.block}, not of {block}", "launch")
    if threads > 1024:
        raise PtxError(f"a block has at most 1024 threads, not {threads}", "launch")
    if len(args) != len(kernel.parameters):
        raise PtxError(f"kernel {kernel.name} has {len(kernel.parameters)} parameters, not {len(args)}", "launch")


class LaunchArguments:
    """Global memory and parameters of a launch: `regions` of arrays and variables, their bytes, the parts that are
    `written`, and the tensor maps by the address that the kernel has of them."""

    def __init__(self, kernel: Kernel, args: Sequence[object], unwritten: Sequence[int]):
        self.kernel = kernel
        self.regions: list[MemoryRange] = []
        self.written: list[tuple[int, int]] = []
        self.maps: dict[int, tuple[TensorMap, int]] = {}
        self._arrays: list[tuple[int, np.ndarray]] = []
        self._contents: list[tuple[int, np.ndarray]] = []
        self._at = GAP
        memory = bytearray()
        for i, (argument, p) in enumerate(zip(args, kernel.parameters, strict=False)):
            memory += bytes(-len(memory) % p.alignment)
            value = self._value(argument, p, len(memory), i not in unwritten)
            if len(value) != p.bytes:
                raise PtxError(
                    f"parameter {p.name} of {kernel.name} has {p.bytes} bytes, its argument {len(value)}", "launch"
                )
            memory += value
        self.parameters = bytes(memory)
        for v in kernel.variables.values():
            if v.space in ("global", "const"):
                self._allocate(v.name, np.frombuffer(v.data or bytes(v.bytes), np.uint8), True)
        self.data = np.zeros(self._at, np.uint8)
        for start, raw in self._contents:
            self.data[start : start + raw.nbytes] = raw

    def _value(self, argument: object, p: KernelParameter, offset: int, is_written: bool) -> bytes:
        """The bytes of a parameter at an offset."""
        if isinstance(argument, np.ndarray) and p.bytes == 8 and argument.ndim:
            return np.array(self._array(p.name, argument, is_written) + WINDOWS["global"], np.uint64).tobytes()
        if isinstance(argument, TensorMap):
            start = self._array(f"array of {p.name}", argument.array, is_written)
            if p.bytes == MAP_BYTES:
                self.maps[offset + WINDOWS["param"]] = argument, start
                return bytes(MAP_BYTES)
            address = self._allocate(p.name, np.zeros(MAP_BYTES, np.uint8), True) + WINDOWS["global"]
            self.maps[address] = argument, start
            return np.array(address, np.uint64).tobytes()
        if isinstance(argument, bytes | bytearray):
            return bytes(argument)
        if p.type == "bf16":
            raise PtxError(f"parameter {p.name}: pass bf16 as its bits", "launch")
        return np.array(argument).astype(DTYPES[p.type]).tobytes()

    def _array(self, name: str, array: np.ndarray, is_written: bool) -> int:
        """Where an array starts; an array that is passed twice has one position."""
        for start, placed in self._arrays:
            if placed is array:
                return start
        raw = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
        start = self._allocate(name, raw, is_written)
        self._arrays.append((start, array))
        return start

    def _allocate(self, name: str, raw: np.ndarray, is_written: bool) -> int:
        start = self._at
        self.regions.append(MemoryRange(start, start + raw.nbytes, name))
        self._contents.append((start, raw))
        if is_written:
            self.written.append((start, start + raw.nbytes))
        self._at += -(-raw.nbytes // GAP) * GAP + GAP
        return start

    def give_back(self, data: np.ndarray) -> None:
        """The results into the arrays."""
        for start, array in self._arrays:
            contents = data[start : start + array.nbytes]
            if not np.array_equal(contents, self.data[start : start + array.nbytes]):
                array[...] = contents.view(array.dtype).reshape(array.shape)


def _add_caller_text(error: PtxError, lines: Mapping[int, str] | None) -> PtxError:
    """The error with the caller's text about its line."""
    if not lines or error.line not in lines:
        return error
    text = f"{error.reason} at {lines[error.line]}"
    return PtxError(
        text,
        error.kind,
        error.line,
        error.source,
        error.kernel,
        error.block,
        error.threads,
        error.instruction,
        error.other,
    )
