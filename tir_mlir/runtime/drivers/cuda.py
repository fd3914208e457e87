"""NVIDIA's GPUs through the driver's own library, libcuda, by ctypes: no toolkit and no other package is needed.

Everything runs in the primary context of a device, which torch, cupy and jax use as well: their arrays and streams are
valid here. PTX is compiled by the driver's linker; the code is kept in the cache, by chip, driver and package.
"""

from __future__ import annotations

import ctypes
import functools
import itertools
import struct
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from ctypes import byref, c_char_p, c_float, c_int, c_size_t, c_uint, c_uint64, c_void_p

import numpy as np

from tir_mlir.dialect.diagnostics import DeviceError, DeviceMemoryError, ForkError
from tir_mlir.extensions import implement
from tir_mlir.runtime.cache import store
from tir_mlir.runtime.cache.fingerprint import FORMAT, installation
from tir_mlir.runtime.drivers import device_driver
from tir_mlir.runtime.drivers.device_driver import (
    FORKED,
    DeviceInfo,
    KernelCode,
    Launch,
    Launcher,
    NativeDriver,
    OneProcess,
    TensorMapLayout,
)
from tir_mlir.runtime.drivers.tensor_maps import TensorMaps
from tir_mlir.target.gpu import CUDA_DRIVER

WAYS = (
    'fix: build(..., target="cuda-emulated") runs the same kernels on the CPU, at its speed; calls inside of '
    '`with tir_mlir.ptx.stand_in():`, and interpret(sch, ..., target="cuda"), run them on a machine in Python with all '
    'checks; lib.assembly and lib.export("f.ptx") need no GPU'
)

# numbers of cuda.h
_MAJOR, _MINOR, _SHARED_BYTES = 75, 76, 97
_DYNAMIC_SHARED_BYTES = 8
_PTX = 1
_ERROR_LOG, _ERROR_LOG_BYTES = 5, 6
_LOG_BYTES = 1 << 14
_LOST_CONTEXT = {4: "the driver is shutting down", 201: "no context is current", 709: "the context was destroyed"}
_LOST_STREAM = {400, 709}
_BAD_PTX = {218: "the driver's compiler refuses the PTX", 222: "the driver is too old for this PTX"}
_NO_MEMORY = 2
_NO_IMAGE, _NOT_SUPPORTED = 209, 801
_IN_A_CHILD = 3
_FAULTS = {
    700: "it, or one started before it on this device, accessed memory outside of its arrays",
    702: "a kernel ran for too long", 710: "an assertion in a kernel failed", 714: "a kernel's stack is damaged",
    715: "a kernel executed an illegal instruction", 716: "a kernel accessed an address that is not aligned",
    717: "a kernel accessed memory of another kind", 718: "a kernel jumped to an illegal address",
    719: "a kernel failed",
}  # fmt: skip
STREAM_OF_LEGACY = 0

_WORD, _P = c_void_p, ctypes.POINTER
_SIGNATURES: dict[str, tuple[type, ...]] = {
    "cuInit": (c_uint,),
    "cuDriverGetVersion": (_P(c_int),),
    "cuDeviceGetCount": (_P(c_int),),
    "cuDeviceGet": (_P(c_int), c_int),
    "cuDeviceGetName": (c_char_p, c_int, c_int),
    "cuDeviceGetAttribute": (_P(c_int), c_int, c_int),
    "cuDevicePrimaryCtxRetain": (_P(_WORD), c_int),
    "cuCtxGetCurrent": (_P(_WORD),),
    "cuCtxSetCurrent": (_WORD,),
    "cuCtxGetDevice": (_P(c_int),),
    "cuLinkCreate_v2": (c_uint, _P(c_int), _P(_WORD), _P(_WORD)),
    "cuLinkAddData_v2": (_WORD, c_int, c_char_p, c_size_t, c_char_p, c_uint, _P(c_int), _P(_WORD)),
    "cuLinkComplete": (_WORD, _P(_WORD), _P(c_size_t)),
    "cuLinkDestroy": (_WORD,),
    "cuModuleLoadData": (_P(_WORD), c_char_p),
    "cuModuleUnload": (_WORD,),
    "cuModuleGetFunction": (_P(_WORD), _WORD, c_char_p),
    "cuFuncSetAttribute": (_WORD, c_int, c_int),
    "cuLaunchKernel": (_WORD, *[c_uint] * 7, _WORD, _WORD, _WORD),
    "cuMemAlloc_v2": (_P(c_uint64), c_size_t),
    "cuMemFree_v2": (c_uint64,),
    "cuMemAllocAsync": (_P(c_uint64), c_size_t, _WORD),
    "cuMemFreeAsync": (c_uint64, _WORD),
    "cuMemcpyHtoDAsync_v2": (c_uint64, _WORD, c_size_t, _WORD),
    "cuMemcpyDtoHAsync_v2": (_WORD, c_uint64, c_size_t, _WORD),
    "cuStreamSynchronize": (_WORD,),
    "cuEventCreate": (_P(_WORD), c_uint),
    "cuEventRecord": (_WORD, _WORD),
    "cuEventSynchronize": (_WORD,),
    "cuEventElapsedTime": (_P(c_float), _WORD, _WORD),
    "cuEventDestroy_v2": (_WORD,),
    "cuGetErrorName": (c_int, _P(c_char_p)),
    "cuGetErrorString": (c_int, _P(c_char_p)),
}


@implement(device_driver.default_driver)
@functools.cache
def cuda() -> Cuda:
    """The driver of this machine. Raises DeviceError, a BuildError, that names what is missing."""
    return Cuda()


class Cuda:
    """CUDA's driver, as `runtime.drivers.device_driver.Driver` describes it.

    library: the path of the driver's library. Raises DeviceError if it is not there, finds no GPU, or is too old.
    """

    is_machine = False

    def __init__(self, library: str = CUDA_DRIVER):
        try:
            self._library = ctypes.CDLL(library)
        except OSError:
            raise DeviceError(f"{library} not found: no NVIDIA driver on this machine; {WAYS}") from None
        for name, types in _SIGNATURES.items():
            try:
                getattr(self._library, name).argtypes = types
            except AttributeError:
                raise DeviceError(f"{library} has no {name}: the driver is too old, 11.2 is needed; {WAYS}") from None
        self._process = OneProcess()
        self._tensor_maps = TensorMaps(self._library)
        self._contexts: dict[int, int] = {}
        self._without_pools: set[int] = set()
        self._start()

    def _start(self) -> None:
        version, count = c_int(), c_int()
        status = self._library.cuInit(0)
        if status == 100 or (not status and not self._library.cuDeviceGetCount(byref(count)) and not count.value):
            raise DeviceError(f"the NVIDIA driver finds no GPU (CUDA_VISIBLE_DEVICES?); {WAYS}")
        if status == _IN_A_CHILD:
            raise ForkError(FORKED)
        if status:
            raise DeviceError(f"the NVIDIA driver does not start: {self._text(status)}; {WAYS}")
        self._check(self._library.cuDriverGetVersion(byref(version)), "cuDriverGetVersion")
        self.name = f"CUDA {version.value // 1000}.{version.value % 1000 // 10}"
        self._devices = [self._device(number) for number in range(count.value)]

    def _device(self, number: int) -> DeviceInfo:
        device, name = c_int(), ctypes.create_string_buffer(256)
        self._check(self._library.cuDeviceGet(byref(device), number), f"GPU {number}")
        self._check(self._library.cuDeviceGetName(name, len(name), device), f"GPU {number}")
        major, minor, shared = (self._attribute(a, device) for a in (_MAJOR, _MINOR, _SHARED_BYTES))
        return DeviceInfo(number, name.value.decode(), f"sm_{major}{minor}", shared)

    def _attribute(self, attribute: int, device: c_int) -> int:
        value = c_int()
        self._check(self._library.cuDeviceGetAttribute(byref(value), attribute, device), "cuDeviceGetAttribute")
        return value.value

    def check(self) -> None:
        self._process.check()

    def devices(self) -> Sequence[DeviceInfo]:
        return self._devices

    def current_device(self) -> int:
        """The device of the thread's context, 0 without one."""
        self._process.check()
        device = c_int()
        return device.value if self._library.cuCtxGetDevice(byref(device)) == 0 else 0

    def current_stream(self, device: int) -> int:
        return STREAM_OF_LEGACY

    # -- errors --------------------------------------------------------------------------------------------------------

    def _text(self, status: int) -> str:
        """CUDA's own words: `CUDA_ERROR_INVALID_VALUE, invalid argument`."""
        words = []
        for ask in (self._library.cuGetErrorName, self._library.cuGetErrorString):
            text = c_char_p()
            words.append((text.value or b"").decode() if not ask(status, byref(text)) else "")
        return ", ".join(w for w in words if w) or f"error {status} of CUDA"

    def _check(self, status: int, what: str, stream: int = 0) -> None:
        """Raise DeviceError for a status that is not success; `what` was tried, on `stream`."""
        if not status:
            return
        text = f"{what}: {self._text(status)}"
        if status in _FAULTS:
            text += (
                f"; {_FAULTS[status]}, and no kernel runs in this process any more; fix: interpret(sch, ..., "
                'target="cuda") names the access'
            )
        elif stream and status in _LOST_STREAM:
            text += f"; stream {stream:#x} of the arrays is gone, or of another device; fix: make another one current"
        elif status in _LOST_CONTEXT:
            text += f"; {_LOST_CONTEXT[status]}; fix: build the program again after the device was reset"
        raise (DeviceMemoryError if status == _NO_MEMORY else DeviceError)(text)

    # -- contexts and code ---------------------------------------------------------------------------------------------

    def _enter(self, device: int) -> None:
        """Make the primary context of a device current in this thread."""
        self._process.check()
        context = self._contexts.get(device)
        if context is None:
            handle = c_void_p()
            status = self._library.cuDevicePrimaryCtxRetain(byref(handle), device)
            self._check(status, f"the context of GPU {device}")
            context = self._contexts[device] = handle.value or 0
        current = c_void_p()
        self._library.cuCtxGetCurrent(byref(current))
        if current.value != context:
            self._check(self._library.cuCtxSetCurrent(context), f"the context of GPU {device}")

    @contextmanager
    def device_context(self, device: int) -> Iterator[None]:
        previous = c_void_p()
        self._library.cuCtxGetCurrent(byref(previous))
        self._enter(device)
        try:
            yield
        finally:
            if previous.value and previous.value != self._contexts[device]:
                self._library.cuCtxSetCurrent(previous)

    def load(self, device: int, code: KernelCode) -> _Module:
        chip = self._devices[device].chip
        if not runs_on(code.chip, chip):
            raise DeviceError(
                f"the kernels are for {code.chip}, GPU {device} ({self._devices[device].name}) is {chip}; "
                f'fix: build(..., target=target.CUDA("{chip}"))'
            )
        with self.device_context(device):
            key = store.digest(FORMAT, installation(), chip, self.name, code.text)
            cubin = store.load("cubin", key)
            handle = None if cubin is None else self._load_cubin(cubin)
            if handle is None:
                handle = self._link_and_load(code.text, chip, key)
        return _Module(self, device, handle)

    def _link_and_load(self, ptx: str, chip: str, key: str) -> int:
        """Load PTX by the linker, whose code is stored; where it refuses what the loader takes, by the loader."""
        try:
            cubin = self._link_ptx(ptx, chip)
        except DeviceError:
            handle = c_void_p()
            if self._library.cuModuleLoadData(byref(handle), ptx.encode() + b"\0") or not handle.value:
                raise  # what the linker says: it has a log
            return handle.value
        store.save("cubin", key, cubin)
        if (loaded := self._load_cubin(cubin)) is None:
            raise DeviceError(f"the driver does not load the code that it compiled for {chip}")
        return loaded

    def unload(self, device: int, handle: int) -> None:
        """Unload a module; nothing where the process is forked, or ends."""
        if sys.is_finalizing() or self._process.is_child:
            return
        with self.device_context(device):
            self._library.cuModuleUnload(handle)

    def _load_cubin(self, cubin: bytes) -> int | None:
        handle = c_void_p()
        status = self._library.cuModuleLoadData(byref(handle), cubin)
        if status == _NO_IMAGE:  # a damaged entry of the cache
            return None
        self._check(status, "cuModuleLoadData")
        return handle.value

    def _link_ptx(self, ptx: str, chip: str) -> bytes:
        """The machine code of PTX for the current device, by the driver's linker."""
        log = ctypes.create_string_buffer(_LOG_BYTES)
        names = (c_int * 2)(_ERROR_LOG, _ERROR_LOG_BYTES)
        values = (c_void_p * 2)(ctypes.addressof(log), len(log))
        state, cubin, size = c_void_p(), c_void_p(), c_size_t()
        self._check(self._library.cuLinkCreate_v2(2, names, values, byref(state)), "cuLinkCreate")
        try:
            text = ptx.encode() + b"\0"
            status = self._library.cuLinkAddData_v2(state, _PTX, text, len(text), b"kernels.ptx", 0, None, None)
            status = status or self._library.cuLinkComplete(state, byref(cubin), byref(size))
            if status:
                words = log.value.decode(errors="replace").strip()
                why = f"; {_BAD_PTX[status]}" if status in _BAD_PTX else ""
                raise DeviceError(f"PTX for {chip}: {self._text(status)}{why}" + (f":\n{words}" if words else ""))
            return ctypes.string_at(cubin.value or 0, size.value)
        finally:
            self._library.cuLinkDestroy(state)

    def launcher(self, module: _Module, launch: Launch) -> Launcher:
        handle = c_void_p()
        with self.device_context(module.device):
            status = self._library.cuModuleGetFunction(byref(handle), module.handle, launch.kernel.encode())
            self._check(status, f"kernel {launch.kernel}")
            if launch.shared_bytes > self._devices[module.device].shared_bytes:
                most = self._devices[module.device].shared_bytes
                raise DeviceError(
                    f"kernel {launch.kernel} needs {launch.shared_bytes:,} bytes of shared memory, a block on "
                    f"{self._devices[module.device].name} has {most:,}; fix: smaller tiles, or fewer shared buffers"
                )
            status = self._library.cuFuncSetAttribute(handle, _DYNAMIC_SHARED_BYTES, launch.shared_bytes)
            self._check(status, f"kernel {launch.kernel}, {launch.shared_bytes} bytes of shared memory")
        return _CudaLauncher(self, module, launch, handle.value or 0)

    def native(self, device: int) -> NativeDriver:
        self._enter(device)
        calls = [self._library.cuCtxGetCurrent, self._library.cuCtxSetCurrent, self._library.cuLaunchKernel]
        if device not in self._without_pools:
            calls += [self._library.cuMemAllocAsync, self._library.cuMemFreeAsync]
        return NativeDriver(self._contexts[device], *[ctypes.cast(call, c_void_p).value or 0 for call in calls])

    def raise_status(self, status: int, what: str) -> None:
        self._check(status, what)

    def start(self, module: _Module, launch: Launch, fixed: Sequence[object], stream: int, pointers: object) -> None:
        """Start a kernel. fixed: the kernel and its sizes for cuLaunchKernel; pointers: those to its arguments."""
        self._enter(module.device)
        status = self._library.cuLaunchKernel(*fixed, stream, pointers, None)
        if status:
            where = f"kernel {launch.kernel} on GPU {module.device}, grid {launch.grid}, block {launch.block}"
            self._check(status, where, stream)

    # -- memory --------------------------------------------------------------------------------------------------------

    def tensor_map(self, device: int, address: int, layout: TensorMapLayout) -> int:
        self._enter(device)
        return self._tensor_maps.address(address, layout)

    def allocate(self, device: int, size: int, stream: int) -> int:
        self._enter(device)
        address = c_uint64()
        if device not in self._without_pools:
            status = self._library.cuMemAllocAsync(byref(address), size, stream)
            if status != _NOT_SUPPORTED:
                self._check(status, f"{size:,} bytes of memory of GPU {device}", stream)
                return address.value
            self._without_pools.add(device)
        self._check(self._library.cuMemAlloc_v2(byref(address), size), f"{size:,} bytes of memory of GPU {device}")
        return address.value

    def free(self, device: int, address: int, stream: int) -> None:
        self._enter(device)  # what fails below failed before, and was reported
        if device in self._without_pools:
            self._library.cuMemFree_v2(address)  # waits for the device
        else:
            self._library.cuMemFreeAsync(address, stream)

    def copy_in(self, device: int, address: int, array: np.ndarray, stream: int) -> None:
        self._enter(device)
        source = array.__array_interface__["data"][0]
        status = self._library.cuMemcpyHtoDAsync_v2(address, source, array.nbytes, stream) if array.nbytes else 0
        self._check(status, f"a copy of {array.nbytes:,} bytes to GPU {device}", stream)

    def copy_out(self, device: int, array: np.ndarray, address: int, stream: int) -> None:
        self._enter(device)
        target = array.__array_interface__["data"][0]
        status = self._library.cuMemcpyDtoHAsync_v2(target, address, array.nbytes, stream) if array.nbytes else 0
        self._check(status, f"a copy of {array.nbytes:,} bytes from GPU {device}", stream)

    def synchronize(self, device: int, stream: int) -> None:
        self._enter(device)
        self._check(self._library.cuStreamSynchronize(stream), f"waiting for GPU {device}", stream)

    def seconds(self, device: int, stream: int, runs: Sequence[Callable[[], None]]) -> list[float]:
        self._enter(device)
        events = [c_void_p() for _ in range(len(runs) + 1)]
        try:
            for event in events:
                self._check(self._library.cuEventCreate(byref(event), 0), "cuEventCreate")
            self._check(self._library.cuEventRecord(events[0], stream), "cuEventRecord", stream)
            for event, run in zip(events[1:], runs, strict=True):
                run()
                self._check(self._library.cuEventRecord(event, stream), "cuEventRecord", stream)
            self._check(self._library.cuEventSynchronize(events[-1]), f"waiting for GPU {device}", stream)
            return [self._elapsed_seconds(*pair) for pair in itertools.pairwise(events)]
        finally:
            for event in events:
                if event.value:
                    self._library.cuEventDestroy_v2(event)

    def _elapsed_seconds(self, first: c_void_p, second: c_void_p) -> float:
        milliseconds = c_float()
        self._check(self._library.cuEventElapsedTime(byref(milliseconds), first, second), "cuEventElapsedTime")
        return milliseconds.value / 1e3


class _Module:
    """Code that is loaded on a device, as long as this lives."""

    def __init__(self, driver: Cuda, device: int, handle: int):
        self.driver, self.device, self.handle = driver, device, handle

    def __del__(self) -> None:
        self.driver.unload(self.device, self.handle)


class _CudaLauncher:
    """A prepared launch; its arguments are packed into a block that the driver copies."""

    def __init__(self, driver: Cuda, module: _Module, launch: Launch, handle: int):
        self.handle, self._driver, self._module, self._launch = handle, driver, module, launch
        self._fixed = handle, *[c_uint(n) for n in (*launch.grid, *launch.block, launch.shared_bytes)]
        self._pack = struct.Struct(f"<{len(launch.types)}Q").pack_into
        self._maps = [n for n, type_ in enumerate(launch.types) if type_ == "tensor_map"]
        self._unused: list[_ArgumentBlock] = []  # blocks that no thread uses

    def __call__(self, stream: int, words: Sequence[int]) -> None:
        try:
            block = self._unused.pop()
        except IndexError:
            block = _ArgumentBlock(len(words))
        self._pack(block.words, 0, *words)
        for number in self._maps:  # a word is too small for one: it is the map's address
            block.pointers[number] = words[number]
        self._driver.start(self._module, self._launch, self._fixed, stream, block.pointers)
        self._unused.append(block)


class _ArgumentBlock:
    """The arguments of a launch: words, and the pointers to them that cuLaunchKernel takes."""

    def __init__(self, count: int):
        self.words = (c_uint64 * count)()
        start = ctypes.addressof(self.words)
        self.pointers = (c_void_p * count)(*[start + 8 * n for n in range(count)])


def runs_on(code: str, chip: str) -> bool:
    """Whether PTX for a chip runs on another: `sm_80` on each that is newer, `sm_90a` on `sm_90` only, `sm_100f` on
    those of its family, `sm_10*`."""
    version = int("".join(filter(str.isdigit, code)))
    there = int("".join(filter(str.isdigit, chip)))
    if code.endswith("a"):
        return version == there
    return version <= there and (not code.endswith("f") or version // 10 == there // 10)
