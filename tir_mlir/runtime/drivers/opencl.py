"""OpenCL by pyopencl, as a driver of kernels in OpenCL C: each device of the first platforms, a CPU by PoCL or a GPU.

OpenCL's memory has no addresses: buffers are numbered as if they had, and a kernel gets the buffer that starts at one.
"""

from __future__ import annotations

import functools
import struct
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from tir_mlir.dialect.diagnostics import BuildError, DeviceError
from tir_mlir.runtime.drivers.device_driver import DeviceInfo, KernelCode, Launch, TensorMapLayout

if TYPE_CHECKING:
    import pyopencl as cl

_FIRST_ADDRESS = 1 << 52  # no address of main memory
_GAP = 1 << 12
_NUMBERS = {
    "float32": ("<f", np.float32), "float64": ("<d", np.float64), "float16": ("<e", np.float16),
}  # fmt: skip
CHIP = "OpenCL"
_EXTENSIONS = {
    "cl_khr_fp16": ("float16", "compute in another type"),
    "cl_khr_fp64": ("float64", "compute in another type"),
    "cl_khr_subgroup_shuffle": ("shuffles", "target.OpenCL(warp=1), which combines in shared memory"),
}
"""What kernels ask a device for, and the fix where it has none."""


class OpenclDriver:
    """The devices of pyopencl. Raises BuildError without pyopencl, or without a device."""

    is_machine = False

    def __init__(self) -> None:
        self._cl = _pyopencl()
        try:
            platforms = self._cl.get_platforms()
        except self._cl.LogicError:  # no platform is an error
            platforms = []
        self._devices = [device for platform in platforms for device in platform.get_devices()]
        if not self._devices:
            raise BuildError("OpenCL finds no device; fix: pip install pocl-binary-distribution, which runs on the CPU")
        self._contexts: dict[int, cl.Context] = {}
        self._queues: dict[int, cl.CommandQueue] = {}
        self._memory: dict[int, cl.Buffer] = {}
        self._next = _FIRST_ADDRESS
        self.name = f"OpenCL on {self._devices[0].name.strip()}"

    def check(self) -> None:
        """Nothing: the devices of OpenCL are asked for when they are used."""

    def devices(self) -> Sequence[DeviceInfo]:
        return [DeviceInfo(n, d.name.strip(), CHIP, d.local_mem_size) for n, d in enumerate(self._devices)]

    def current_device(self) -> int:
        return 0

    def current_stream(self, device: int) -> int:
        return 0

    def _queue(self, device: int) -> cl.CommandQueue:
        if device not in self._queues:
            self._contexts[device] = self._cl.Context([self._devices[device]])
            self._queues[device] = self._cl.CommandQueue(self._contexts[device])
        return self._queues[device]

    def device_context(self, device: int) -> AbstractContextManager[None]:
        return nullcontext()

    def load(self, device: int, code: KernelCode) -> tuple[int, cl.Program]:
        self._queue(device)
        name, extensions = self._devices[device].name.strip(), self._devices[device].extensions.split()
        for extension, (what, fix) in _EXTENSIONS.items():
            if extension in code.text and extension not in extensions:
                raise DeviceError(f"OpenCL on {name} has no {what} ({extension}); fix: {fix}")
        if code.spirv and "SPIR-V" not in self._devices[device].il_version:
            raise DeviceError(
                f"OpenCL on {name} takes no SPIR-V; fix: target.OPENCL, whose kernels are OpenCL C, or a runtime that "
                "takes it (on a CPU Intel's: pip install intel-opencl-rt)"
            )
        try:
            return device, self._cl.Program(self._contexts[device], code.spirv or code.text).build()
        except self._cl.RuntimeError as error:
            if "unknown target CPU" in str(error):
                raise DeviceError(
                    f"OpenCL on {name} compiles no kernels: its LLVM is older than the CPU; fix: Intel's runtime (pip "
                    "install intel-opencl-rt intel-cmplr-lib-rt, and OCL_ICD_VENDORS, as docs/gpu/no-gpu.md says), a "
                    'newer PoCL, or target="cuda-emulated", which runs the same kernels'
                ) from error
            what = "SPIR-V of the kernels (lib.assembly)" if code.spirv else "text of the kernels (lib.source)"
            raise DeviceError(f"OpenCL refuses the {what}: {error}") from error

    def launcher(self, module: tuple[int, cl.Program], launch: Launch) -> _OpenclLauncher:
        device, program = module
        return _OpenclLauncher(self, device, self._cl.Kernel(program, launch.kernel), launch)

    def native(self, device: int) -> None:
        return None

    def raise_status(self, status: int, what: str) -> None:
        raise DeviceError(f"{what}: error {status}")

    def start(self, device: int, kernel: cl.Kernel, launch: Launch, words: Sequence[int]) -> None:
        """Start a launch."""
        for number, (type_, word) in enumerate(zip(launch.types, words, strict=True)):
            kernel.set_arg(number, self._buffer(word, launch.kernel) if type_ == "pointer" else _number(type_, word))
        sizes = tuple(blocks * threads for blocks, threads in zip(launch.grid, launch.block, strict=True))
        try:
            self._cl.enqueue_nd_range_kernel(self._queue(device), kernel, sizes, launch.block)
        except self._cl.Error as error:
            raise DeviceError(f"kernel {launch.kernel}: {error}") from error

    def _buffer(self, address: int, what: str) -> cl.Buffer:
        if address not in self._memory:
            raise DeviceError(
                f"{what}: {address:#x} is not the start of a buffer; pass arrays that start at their data"
            )
        return self._memory[address]

    def tensor_map(self, device: int, address: int, layout: TensorMapLayout) -> int:
        raise DeviceError("OpenCL has no tensor maps")

    def allocate(self, device: int, size: int, stream: int) -> int:
        address = self._next
        self._next += -(-(size + _GAP) // _GAP) * _GAP
        self._queue(device)
        flags = self._cl.mem_flags.READ_WRITE
        self._memory[address] = self._cl.Buffer(self._contexts[device], flags, max(size, 1))
        return address

    def free(self, device: int, address: int, stream: int) -> None:
        self._memory.pop(address).release()

    def copy_in(self, device: int, address: int, array: np.ndarray, stream: int) -> None:
        if array.size:
            self._cl.enqueue_copy(self._queue(device), self._buffer(address, "a copy"), array)

    def copy_out(self, device: int, array: np.ndarray, address: int, stream: int) -> None:
        if array.size:
            self._cl.enqueue_copy(self._queue(device), array, self._buffer(address, "a copy"))

    def synchronize(self, device: int, stream: int) -> None:
        self._queue(device).finish()

    def seconds(self, device: int, stream: int, runs: Sequence[Callable[[], None]]) -> list[float]:
        times = []
        for run in runs:
            self.synchronize(device, stream)
            start = time.perf_counter()
            run()
            self.synchronize(device, stream)
            times.append(time.perf_counter() - start)
        return times


class _OpenclLauncher:
    """A prepared launch."""

    handle = 0

    def __init__(self, driver: OpenclDriver, device: int, kernel: cl.Kernel, launch: Launch):
        self._driver, self._device, self._kernel, self._launch = driver, device, kernel, launch

    def __call__(self, stream: int, words: Sequence[int]) -> None:
        self._driver.start(self._device, self._kernel, self._launch, words)


def _number(type_: str, word: int) -> np.generic:
    """The bits of an argument as a number of its type."""
    if type_ in _NUMBERS:
        format_, numpy_type = _NUMBERS[type_]
        size = struct.calcsize(format_)
        return numpy_type(struct.unpack(format_, word.to_bytes(size, "little"))[0])
    numpy_type = np.dtype("uint8" if type_ == "bool" else type_)
    return np.frombuffer(word.to_bytes(8, "little")[: numpy_type.itemsize], numpy_type)[0]


def _pyopencl() -> ModuleType:
    try:
        import pyopencl
    except ImportError as error:
        raise BuildError(
            "kernels in OpenCL C run by pyopencl, which is not installed; fix: pip install pyopencl "
            'pocl-binary-distribution, or write the text, lib.export("f.cl")'
        ) from error
    return pyopencl


@functools.cache
def opencl() -> OpenclDriver:
    """The driver of this process. Raises BuildError without pyopencl, or without a device."""
    return OpenclDriver()
