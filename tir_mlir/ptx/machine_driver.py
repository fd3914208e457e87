"""A driver whose devices are the machine: launches run the PTX in NumPy, with all checks.

It has the interface of CUDA's driver, `Driver` in `runtime.drivers.device_driver`: `interpret(sch, ..., target="cuda")`
runs on it, and tests go the whole way from arrays to results without a GPU. Device memory is NumPy arrays at addresses
of their own; what a call starts is done when it returns.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext

import numpy as np

from tir_mlir.dialect.diagnostics import DeviceError
from tir_mlir.ptx.launching import launch as run_kernel
from tir_mlir.ptx.parser import Module, parse
from tir_mlir.ptx.report import Report
from tir_mlir.runtime.drivers.device_driver import DeviceInfo, KernelCode, Launch, OneProcess

_FIRST_ADDRESS = 1 << 52  # no address of main memory
_GAP = 1 << 12  # between allocations, so that an access past one is in none
_FORMATS = {"float32": "<f", "float64": "<d", "float16": "<e"}
SHARED_BYTES = 227 << 10


class MachineDriver:
    """Devices in NumPy: `count` of them, of one `chip`. one_block: only the first block of each launch runs, to count
    what it does. reports: the machine's, of the launches so far."""

    is_machine = True
    name = "the PTX machine"

    def __init__(self, count: int = 1, chip: str = "sm_90", one_block: bool = False):
        self._one_block = one_block
        self._devices = [DeviceInfo(n, "PTX machine", chip, SHARED_BYTES) for n in range(count)]
        self._memory: dict[int, tuple[int, np.ndarray]] = {}
        self._unwritten: set[int] = set()  # memory of calls that nobody wrote
        self._next = _FIRST_ADDRESS
        self._streams: set[int] = {0}
        self._process = OneProcess()
        self.reports: list[Report] = []

    def check(self) -> None:
        self._process.check()

    def devices(self) -> Sequence[DeviceInfo]:
        return self._devices

    def current_device(self) -> int:
        return 0

    def current_stream(self, device: int) -> int:
        return 0

    def device_context(self, device: int) -> AbstractContextManager[None]:
        return nullcontext()

    def load(self, device: int, code: KernelCode) -> tuple[int, Module]:
        self._process.check()
        return device, parse(code.text)

    def launcher(self, module: tuple[int, Module], launch: Launch) -> _MachineLauncher:
        return _MachineLauncher(self, *module, launch)

    def native(self, device: int) -> None:
        return None

    def raise_status(self, status: int, what: str) -> None:
        raise DeviceError(f"{what}: error {status}")

    def start(self, device: int, module: Module, launch: Launch, stream: int, words: Sequence[int]) -> None:
        """Run a launch. Raises PtxError for what a GPU does not tell; the arrays are then unchanged."""
        what = f"kernel {launch.kernel}"
        self._check(stream, what)
        pairs = list(zip(launch.types, words, strict=True))
        self._refuse_overlap(what, [word for type_, word in pairs if type_ == "pointer"])
        args = [self._bytes_at(w, device, what) if t == "pointer" else _number(t, w) for t, w in pairs]
        starts = [word if type_ == "pointer" else 0 for type_, word in pairs]
        unwritten = [n for n, start in enumerate(starts) if start in self._unwritten]
        grid = (1, 1, 1) if self._one_block else launch.grid
        report = run_kernel(module, launch.kernel, grid, launch.block, args, launch.shared_bytes, unwritten=unwritten)
        report.grid = launch.grid
        self._unwritten.difference_update(starts)
        self.reports.append(report)

    def _refuse_overlap(self, what: str, addresses: Sequence[int]) -> None:
        """Two arguments in one allocation would be two memories."""
        starts = [start for address in addresses for start in self._memory if self._is_in(start, address)]
        if len(set(starts)) < len(starts):
            raise DeviceError(f"{what}: the PTX machine takes no arguments that overlap; pass copies")

    def _is_in(self, start: int, address: int) -> bool:
        return start <= address < start + max(self._memory[start][1].size, 1)

    def _bytes_at(self, address: int, device: int, what: str) -> np.ndarray:
        """The bytes of an allocation from an address on."""
        for start, (number, memory) in self._memory.items():
            if self._is_in(start, address) and number == device:
                return memory[address - start :]
        raise DeviceError(f"{what}: {address:#x} is not an address of memory of device {device}")

    def _check(self, stream: int, what: str) -> None:
        self._process.check()
        if stream not in self._streams:
            raise DeviceError(f"{what}: stream {stream:#x} of the arrays is gone; fix: make another one current")

    # -- memory and streams --------------------------------------------------------------------------------------------

    def allocate(self, device: int, size: int, stream: int) -> int:
        self._check(stream, f"{size:,} bytes of memory")
        address = self._next
        self._next += -(-(size + _GAP) // _GAP) * _GAP
        self._memory[address] = device, np.zeros(size, np.uint8)
        self._unwritten.add(address)
        return address

    def free(self, device: int, address: int, stream: int) -> None:
        del self._memory[address]
        self._unwritten.discard(address)

    def copy_in(self, device: int, address: int, array: np.ndarray, stream: int) -> None:
        data = np.frombuffer(np.ascontiguousarray(array).tobytes(), np.uint8)
        self._bytes_at(address, device, "a copy")[: data.size] = data
        self._unwritten.discard(address)

    def copy_out(self, device: int, array: np.ndarray, address: int, stream: int) -> None:
        array.reshape(-1).view(np.uint8)[:] = self._bytes_at(address, device, "a copy")[: array.nbytes]

    def synchronize(self, device: int, stream: int) -> None:
        self._check(stream, "waiting")

    def seconds(self, device: int, stream: int, runs: Sequence[Callable[[], None]]) -> list[float]:
        raise DeviceError("the PTX machine measures no time of a GPU")

    def create_stream(self) -> int:
        """A stream."""
        stream = max(self._streams) + 1
        self._streams.add(stream)
        return stream

    def destroy_stream(self, stream: int) -> None:
        """End a stream: what is started on it later raises."""
        self._streams.remove(stream)


class _MachineLauncher:
    """A launch of the machine."""

    handle = 0

    def __init__(self, driver: MachineDriver, device: int, module: Module, launch: Launch):
        self._driver, self._device, self._module, self._launch = driver, device, module, launch

    def __call__(self, stream: int, words: Sequence[int]) -> None:
        self._driver.start(self._device, self._module, self._launch, stream, words)


def _number(type_: str, word: int) -> float | int:
    """The number that has these bits."""
    if type_ not in _FORMATS:
        return word
    return struct.unpack(_FORMATS[type_], word.to_bytes(struct.calcsize(_FORMATS[type_]), "little"))[0]
