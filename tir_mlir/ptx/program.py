"""Runs of a built program on the machine, and facts of its kernels: `lib.report()`, `interpret(..., target="cuda")`."""

from __future__ import annotations

import math
import re
import struct
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from tir_mlir.dialect.diagnostics import ArgumentError, BuildError, DeviceError, DeviceMemoryError, ToolError
from tir_mlir.errors import PtxError
from tir_mlir.extensions import implement
from tir_mlir.ptx.launching import launch as run_kernel
from tir_mlir.ptx.parser import Module, parse
from tir_mlir.ptx.prediction.cards import find_card
from tir_mlir.ptx.prediction.program import ProgramPrediction, predict_launches
from tir_mlir.ptx.prediction.tracing import TracedLaunch
from tir_mlir.ptx.report import Report
from tir_mlir.ptx.tensors import TensorMap
from tir_mlir.runtime import library
from tir_mlir.runtime.call.signature import BufferParam, CallSignature
from tir_mlir.runtime.drivers.device_driver import DeviceInfo, KernelCode, Launch, OneProcess, TensorMapLayout
from tir_mlir.runtime.tools import files, toolchain
from tir_mlir.target import CUDA

# A driver whose devices are the machine: launches run the PTX in NumPy, with all checks.
#
# It has the interface of CUDA's driver, `Driver` in `runtime.drivers.device_driver`: `interpret(sch, ...,
# target="cuda")` runs on it, and tests go the whole way from arrays to results without a GPU. Device memory is NumPy
# arrays at addresses of their own; what a call starts is done when it returns.


_FIRST_ADDRESS = 1 << 52  # no address of main memory
_GAP = 1 << 12  # between allocations, so that an access past one is in none
_FORMATS = {"float32": "<f", "float64": "<d", "float16": "<e"}
SHARED_BYTES = 227 << 10


class MachineDriver:
    """Devices in NumPy: `count` of them, of one `chip`. one_block: only the first block of each launch runs, to count
    what it does. memory: bytes of all devices; None: no limit. reports: the machine's, of the launches so far, which
    are `launches`."""

    is_machine = True
    name = "the PTX machine"

    def __init__(self, count: int = 1, chip: str = "sm_90", one_block: bool = False, memory: int | None = None):
        self._one_block, self._limit = one_block, memory
        self._devices = [DeviceInfo(n, "PTX machine", chip, SHARED_BYTES) for n in range(count)]
        self._memory: dict[int, tuple[int, np.ndarray]] = {}
        self._sizes: dict[int, int] = {}  # of memory without contents
        self._unwritten: set[int] = set()  # memory of calls that nobody wrote
        self._next = _FIRST_ADDRESS
        self._streams: set[int] = {0}
        self._maps: dict[int, tuple[int, TensorMapLayout]] = {}
        self._process = OneProcess()
        self.reports: list[Report] = []
        self.launches: list[TracedLaunch] = []

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
        self._refuse_overlap(what, {word for type_, word in pairs if type_ == "pointer"})
        arrays = {w: self._bytes_at(w, device, what) for t, w in pairs if t == "pointer"}
        args = [arrays[w] if t == "pointer" else self._argument(t, w, device, what) for t, w in pairs]
        starts = [word if type_ == "pointer" else 0 for type_, word in pairs]
        unwritten = [n for n, start in enumerate(starts) if start in self._unwritten]
        grid = (1, 1, 1) if self._one_block else launch.grid
        report = run_kernel(module, launch.kernel, grid, launch.block, args, launch.shared_bytes, unwritten=unwritten)
        report.grid = launch.grid
        self.launches.append(self.describe_launch(module, launch, words))
        self._unwritten.difference_update(starts)
        self.reports.append(report)

    def describe_launch(self, module: Module, launch: Launch, words: Sequence[int]) -> TracedLaunch:
        """A launch without the contents of its arrays."""
        kernel, parameters, arrays = module.kernels[launch.kernel], bytearray(), set()
        for p, type_, word in zip(kernel.parameters, launch.types, words, strict=True):
            parameters += bytes(-len(parameters) % p.alignment) + word.to_bytes(p.bytes, "little")
            if type_ == "pointer":
                arrays |= {(start, self.size_of(start)) for start in self._memory if self._is_in(start, word)}
        return TracedLaunch(
            kernel, launch.grid, launch.block, launch.shared_bytes, bytes(parameters), tuple(sorted(arrays))
        )

    def size_of(self, start: int) -> int:
        """The bytes of an allocation."""
        return self._memory[start][1].size

    def _argument(self, type_: str, word: int, device: int, what: str) -> object:
        if type_ == "tensor_map":
            address, layout = self._maps[word]
            size = math.prod(layout.shape) * np.dtype(_numpy_type(layout.dtype)).itemsize
            array = self._bytes_at(address, device, what)[:size].view(_numpy_type(layout.dtype))
            return TensorMap(array.reshape(layout.shape), layout.box, layout.swizzle)
        return _number(type_, word)

    def tensor_map(self, device: int, address: int, layout: TensorMapLayout) -> int:
        key = address, layout
        number = next((n for n, known in self._maps.items() if known == key), len(self._maps))
        self._maps[number] = key
        return number

    def _refuse_overlap(self, what: str, addresses: Collection[int]) -> None:
        """Two parts of one allocation would be two memories; the same part twice is one."""
        starts = [start for address in addresses for start in self._memory if self._is_in(start, address)]
        if len(set(starts)) < len(starts):
            raise DeviceError(f"{what}: the PTX machine takes no arguments that overlap; pass copies")

    def _is_in(self, start: int, address: int) -> bool:
        return start <= address < start + max(self.size_of(start), 1)

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

    @property
    def held_bytes(self) -> int:
        """The bytes of memory that are in use."""
        return sum(memory.size for _, memory in self._memory.values())

    # -- memory and streams --------------------------------------------------------------------------------------------

    def allocate(self, device: int, size: int, stream: int) -> int:
        self._check(stream, f"{size:,} bytes of memory")
        if self._limit is not None and self.held_bytes + size > self._limit:
            used = f"{self.held_bytes:,} of {self._limit:,} bytes are in use"
            raise DeviceMemoryError(f"{size:,} bytes of memory: {used}")
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


class LaunchRecorder(MachineDriver):
    """A driver that runs nothing: it keeps the launches, for which memory has addresses and sizes only."""

    def start(self, device: int, module: Module, launch: Launch, stream: int, words: Sequence[int]) -> None:
        self.launches.append(self.describe_launch(module, launch, words))

    def allocate(self, device: int, size: int, stream: int) -> int:
        address = super().allocate(device, 0, stream)
        self._next += -(-size // _GAP) * _GAP
        self._sizes[address] = size
        return address

    def size_of(self, start: int) -> int:
        return self._sizes[start]

    def copy_in(self, device: int, address: int, array: np.ndarray, stream: int) -> None:
        pass

    def copy_out(self, device: int, array: np.ndarray, address: int, stream: int) -> None:
        pass


class _MachineLauncher:
    """A launch of the machine."""

    handle = 0

    def __init__(self, driver: MachineDriver, device: int, module: Module, launch: Launch):
        self._driver, self._device, self._module, self._launch = driver, device, module, launch

    def __call__(self, stream: int, words: Sequence[int]) -> None:
        self._driver.start(self._device, self._module, self._launch, stream, words)


def _numpy_type(dtype: str) -> str:
    return "uint16" if dtype == "bfloat16" else dtype


def _number(type_: str, word: int) -> float | int:
    """The number that has these bits."""
    if type_ not in _FORMATS:
        return word
    return struct.unpack(_FORMATS[type_], word.to_bytes(struct.calcsize(_FORMATS[type_]), "little"))[0]


_REGISTERS = re.compile(r"Compiling entry function '([\w$]+)'.*?(\d+) bytes spill stores.*?Used (\d+) registers", re.S)


@dataclass(frozen=True)
class KernelFacts:
    """What a kernel needs: bytes of shared memory that it declares, barriers in its text; registers of a thread and
    bytes that it spills, by NVIDIA's assembler, None where that is not installed or does not know the chip."""

    shared_bytes: int
    barriers: int
    registers: int | None = None
    spilled: int | None = None

    def __str__(self) -> str:
        words = [f"{self.shared_bytes:,} bytes of shared memory", f"{self.barriers} barriers"]
        if self.registers is not None:
            words += [f"{self.registers} registers a thread", f"{self.spilled or 0} bytes spilled"]
        return ", ".join(words)


@dataclass
class ProgramReport:
    """A run of a function on the machine: the report of each launch, in order; the code of its kernels; seconds of the
    machine; whether only the first block of each launch ran; the launches without their data."""

    name: str
    launches: list[Report]
    code: KernelCode
    seconds: float = 0.0
    one_block: bool = False
    traced: list[TracedLaunch] = field(default_factory=list)

    def predict(self, gpu: str | None = None) -> ProgramPrediction:
        """The time that a GPU is predicted to take. gpu: "H200", see `tir_mlir.ptx.prediction.CARDS`; default the usual
        one of the chip.

        Raises BuildError for a GPU whose rates are not known, PtxError for kernels that cannot be followed.
        """
        every = self.kernels.items()
        told = {name: (facts.registers, facts.spilled or 0) for name, facts in every if facts.registers is not None}
        return predict_launches(self.name, self.traced, told, find_card(gpu, CUDA(self.code.chip).capability))

    @cached_property
    def kernels(self) -> dict[str, KernelFacts]:
        """The facts of the launched kernels, by name."""
        return facts(self.code.text, self.code.chip, {r.kernel for r in self.launches})

    @property
    def bank_conflicts(self) -> int:
        return sum(r.bank_conflicts for r in self.launches)

    @property
    def sectors(self) -> int:
        """Sectors of 32 bytes of global memory that were moved."""
        return sum(r.sectors for r in self.launches)

    @property
    def sectors_least(self) -> int:
        """Sectors if each were used in full."""
        return sum(r.sectors_least for r in self.launches)

    @property
    def divergent(self) -> int:
        """Branches at which threads of a warp part."""
        return sum(r.divergent for r in self.launches)

    @property
    def barriers(self) -> int:
        return sum(r.barriers for r in self.launches)

    @property
    def instructions(self) -> dict[str, int]:
        """By kind, one for each warp that executes it."""
        totals: dict[str, int] = {}
        for report in self.launches:
            for kind, count in report.instructions.items():
                totals[kind] = totals.get(kind, 0) + count
        return totals

    def __str__(self) -> str:
        if not self.launches:
            return f"{self.name}: no kernel was started"
        head = "the first block of each launch\n\n" if self.one_block else ""
        parts = [f"{report}\n\nneeds {self._needs(report)}" for report in self.launches]
        try:
            predicted = self.predict().launches
        except (BuildError, PtxError) as error:
            return "\n\n".join([head.strip(), *parts, f"no time is predicted: {error}"]).strip()
        parts = [f"{part}\n{prediction}" for part, prediction in zip(parts, predicted, strict=True)]
        return head + "\n\n".join(parts)

    def _needs(self, report: Report) -> str:
        kernel = replace(self.kernels[report.kernel], shared_bytes=report.shared_bytes)
        if kernel.registers is None:
            return str(kernel)
        threads = math.prod(report.block)
        blocks, limit = CUDA(self.code.chip).occupancy(threads, kernel.shared_bytes, kernel.registers)
        return f"{kernel}\na multiprocessor holds {blocks} blocks, {blocks * threads:,} threads: it has no more {limit}"

    __repr__ = __str__


def run(function: Any, args: Sequence[object], one_block: bool = False) -> ProgramReport:
    """Run a function of a library on NumPy arrays, which get the results; one_block: only the first of each launch.

    Raises ArgumentError, and PtxError for what the machine finds; the arrays are then unchanged.
    """
    start = time.perf_counter()
    driver = MachineDriver(chip=function.code.code.chip, one_block=one_block)
    function.run(driver, args)
    seconds = time.perf_counter() - start
    return ProgramReport(function.name, driver.reports, function.code.code, seconds, one_block, driver.launches)


@implement(library.predict_kernels)
def predict_function(function: Any, args: Sequence[object], gpu: str | None) -> ProgramPrediction:
    """The predicted time of a function of a library; without arguments, at the sizes that its signature says."""
    code = function.code.code
    card = find_card(gpu, CUDA(code.chip).capability)
    driver = LaunchRecorder(chip=code.chip)
    function.run(driver, args or sample_arguments(function.signature, filled=False))
    usage = register_usage(code.text, code.chip)
    return predict_launches(function.name, driver.launches, usage, card)


def facts(text: str, chip: str, kernels: set[str]) -> dict[str, KernelFacts]:
    """The facts of kernels of a PTX text."""
    module = parse(text)
    assembled = register_usage(text, chip)
    return {name: _facts_of(module, name, assembled) for name in sorted(kernels)}


def _facts_of(module: Module, name: str, assembled: Mapping[str, tuple[int, int]]) -> KernelFacts:
    kernel = module.kernels[name]
    barriers = sum(i.parts[0] in ("bar", "barrier") and "warp" not in i.parts for i in kernel.instructions)
    registers, spilled = assembled.get(name, (None, None))
    return KernelFacts(kernel.shared_bytes, barriers, registers, spilled)


def register_usage(text: str, chip: str) -> dict[str, tuple[int, int]]:
    """Registers and spilled bytes by kernel; nothing without the assembler, or for a chip that it does not know."""
    try:
        toolchain.find("ptxas")
        with files.folder() as folder:
            source = Path(folder, "kernels.ptx")
            source.write_text(text)
            options = [f"-arch={chip}", "-v", str(source), "-o", str(Path(folder, "kernels.cubin"))]
            done = toolchain.attempt("ptxas", options)
    except ToolError:
        return {}
    return {name: (int(used), int(spilled)) for name, spilled, used in _REGISTERS.findall(done.stdout + done.stderr)}


def sample_arguments(
    signature: CallSignature, seed: int = 0, filled: bool = True, sizes: Mapping[str, int] | None = None
) -> list[np.ndarray | float]:
    """Arguments for a run that is only counted: small integers in floats, zeros in integers, which may be indices.
    filled: else zeros everywhere, which take no time and no memory. sizes: values of shape variables.

    Raises ArgumentError for a size that only a call knows.
    """
    random, known = np.random.default_rng(seed), dict(sizes or {})
    args: list[np.ndarray | float] = []
    for param in signature.params:
        if not isinstance(param, BufferParam):
            if param.is_index and param.name not in known:
                raise _unknown_size(signature, f"{param.name} is a size")
            if param.is_index:
                args.append(known[param.name])
                continue
            args.append(1.0 if param.dtype.startswith("float") else False if param.dtype == "bool" else 1)
            continue
        if any(dim.text == "?" or not known.keys() >= set(dim.symbols) for dim in param.dims):
            raise _unknown_size(signature, f"{param} has a size")
        args.append(_sample(param, tuple(dim.value(known) for dim in param.dims), random if filled else None))
    return args


def _unknown_size(signature: CallSignature, what: str) -> ArgumentError:
    return ArgumentError(
        f"{signature.name}: {what} that only a call knows; fix: pass arrays: lib.report(A, ...), lib.predict(A, ...)"
    )


def _sample(param: BufferParam, shape: tuple[int, ...], random: np.random.Generator | None) -> np.ndarray:
    dtype = "uint16" if param.dtype == "bfloat16" else param.dtype
    strides = param.strides
    is_float = random is not None and dtype.startswith("float")
    values = random.integers(-3, 4, shape).astype(dtype) if random and is_float else np.zeros(shape, dtype)
    if strides is None or None in strides:
        return values
    steps = [s or 0 for s in strides]
    memory = np.zeros(1 + sum((n - 1) * s for n, s in zip(shape, steps, strict=True)), dtype)
    return np.lib.stride_tricks.as_strided(memory, shape, [s * memory.itemsize for s in steps])


@implement(library.report_kernels)
def report(function: Any, args: Sequence[object]) -> ProgramReport:
    """The report of a function on arrays; without arrays, of the first block of each launch on small numbers."""
    return run(function, args) if args else run(function, sample_arguments(function.signature), one_block=True)
