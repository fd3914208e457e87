"""The interface between calls and a GPU, and which implementation is used: CUDA's, or one that a program sets.

`tir_mlir.runtime.drivers.cuda` drives real GPUs; `tir_mlir.ptx.program` runs the kernels' PTX on the machine in
NumPy, so that everything from arrays to results is tested without a GPU.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from tir_mlir.dialect.diagnostics import ForkError
from tir_mlir.extensions import extension_point

Dim3 = tuple[int, int, int]


@dataclass(frozen=True)
class DeviceInfo:
    """A GPU: its number, name, chip ("sm_90"), and the bytes of shared memory that a block may have."""

    number: int
    name: str
    chip: str
    shared_bytes: int


@dataclass(frozen=True)
class KernelCode:
    """The code of a module of kernels: PTX, and the chip that it was made for ("sm_80", "sm_90a"); or OpenCL C, with
    the SPIR-V that is loaded instead of it, if any."""

    text: str
    chip: str
    spirv: bytes = b""


@dataclass(frozen=True)
class Launch:
    """One launch of a kernel: its name, grid, block, dynamic shared memory, and the type of each argument ("pointer",
    "int32", "int64", "float32", ..., "tensor_map")."""

    kernel: str
    grid: Dim3
    block: Dim3
    shared_bytes: int
    types: tuple[str, ...]


@dataclass(frozen=True)
class TensorMapLayout:
    """A row-major array as a tensor map describes it: its element type and shape, the box of a copy, and the bytes of
    rows whose units of 16 bytes are permuted in shared memory (0: none)."""

    dtype: str
    shape: tuple[int, ...]
    box: tuple[int, ...]
    swizzle: int


class Launcher(Protocol):
    """A prepared launch: starts it on a stream, with the bits of each argument as an integer. `handle`: the kernel, as
    the driver has it, for native code."""

    handle: int

    def __call__(self, stream: int, words: Sequence[int]) -> None: ...


@dataclass(frozen=True)
class NativeDriver:
    """What native code needs of a driver for a device: its context, and the addresses of functions as CUDA has them.
    allocate, release: 0 if the device has no memory in the order of a stream."""

    context: int
    get_context: int
    set_context: int
    start: int
    allocate: int = 0
    release: int = 0


class DeviceDriver(Protocol):
    """What calls need of GPUs. Streams and addresses are integers; stream 0 is the default stream of a device.

    Every method raises DeviceError, whose message names the kernel, where there is one, and the driver's own words.
    Copies and launches return before they are done; `synchronize` waits.
    """

    @property
    def name(self) -> str:
        """The driver and its version, for messages and keys of cached code."""
        ...

    @property
    def is_machine(self) -> bool:
        """Whether kernels run on the machine in NumPy: no time that it takes says anything about a GPU."""
        ...

    def check(self) -> None:
        """Raise ForkError in a process that was forked after the driver was initialized."""
        ...

    def devices(self) -> Sequence[DeviceInfo]:
        """The GPUs."""
        ...

    def current_device(self) -> int:
        """The device of calls whose arguments are all in main memory."""
        ...

    def current_stream(self, device: int) -> int:
        """The stream of calls whose arrays have none."""
        ...

    def device_context(self, device: int) -> AbstractContextManager[None]:
        """A context in which calls for a device run; the thread's own device is the current one again after it."""
        ...

    def load(self, device: int, code: KernelCode) -> object:
        """Load code on a device; the result keeps the code loaded."""
        ...

    def launcher(self, module: Any, launch: Launch) -> Launcher:
        """Prepare a launch of a kernel of a loaded module."""
        ...

    def native(self, device: int) -> NativeDriver | None:
        """What native code needs to start kernels on a device; None if it cannot."""
        ...

    def raise_status(self, status: int, what: str) -> None:
        """Raise DeviceError for an error that native code got."""
        ...

    def tensor_map(self, device: int, address: int, layout: TensorMapLayout) -> int:
        """What a launch gets for the tensor map of the array at an address."""
        ...

    def allocate(self, device: int, size: int, stream: int) -> int:
        """Device memory of `size` bytes; usable by what is started on the stream from now on."""
        ...

    def free(self, device: int, address: int, stream: int) -> None:
        """Give memory back once what was started on the stream is done."""
        ...

    def copy_in(self, device: int, address: int, array: np.ndarray, stream: int) -> None:
        """Copy a contiguous array to device memory."""
        ...

    def copy_out(self, device: int, array: np.ndarray, address: int, stream: int) -> None:
        """Copy device memory to a contiguous array."""
        ...

    def synchronize(self, device: int, stream: int) -> None:
        """Wait for what was started on a stream."""
        ...

    def seconds(self, device: int, stream: int, runs: Sequence[Callable[[], None]]) -> list[float]:
        """The seconds that a device takes for what each callable starts on the stream, by events."""
        ...


_current: ContextVar[DeviceDriver | None] = ContextVar("driver", default=None)


@contextmanager
def using(driver: DeviceDriver) -> Iterator[None]:
    """Calls inside run on this driver instead of CUDA's."""
    token = _current.set(driver)
    try:
        yield
    finally:
        _current.reset(token)


@extension_point
def default_driver() -> DeviceDriver:
    """CUDA's driver. Errors: DeviceError without a GPU."""
    ...


def active() -> DeviceDriver:
    """The driver of calls: that of `using`, else CUDA's. Errors: DeviceError without a GPU."""
    driver = _current.get()
    return default_driver() if driver is None else driver


FORKED = (
    "this process was forked from one that used the GPU, and CUDA works only in the process that initialized it; fix: "
    'multiprocessing.get_context("spawn"), or call kernels in the child only'
)


class OneProcess:
    """The process in which a driver was initialized; CUDA cannot be used in a child that is forked from it."""

    def __init__(self) -> None:
        self._process = os.getpid()

    @property
    def is_child(self) -> bool:
        return os.getpid() != self._process

    def check(self) -> None:
        """Raises ForkError in a child."""
        if os.getpid() != self._process:
            raise ForkError(FORKED)
