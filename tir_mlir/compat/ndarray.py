"""`tvm.nd`: arrays with TVM's interface over NumPy memory, and devices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tir_mlir.compat.gpu_targets import has_gpu
from tir_mlir.dialect.diagnostics import ArgumentError, short_repr

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
    from typing_extensions import CapsuleType

_ALIGNMENT = 64  # bytes: a cache line, and the widest vector


_NUMBERS = {"cpu": 1, "cuda": 2, "opencl": 4}
"""DLPack's numbers of kinds of devices."""
_KINDS = {"cpu": "cpu", "llvm": "cpu", "c": "cpu", "cuda": "cuda", "nvptx": "cuda", "gpu": "cuda", "opencl": "opencl"}


@dataclass(frozen=True)
class Device:
    """A device, as returned by `tvm.cpu()`, `tvm.cuda()`. Arrays are in main memory; calls copy them to a GPU."""

    index: int = 0
    kind: str = "cpu"

    @property
    def exist(self) -> bool:
        """Whether this machine has such a device: kernels also run without a GPU, on the CPU."""
        return self.kind == "cpu" or (self.kind == "cuda" and has_gpu())

    @property
    def device_type(self) -> int:
        """DLPack's number."""
        return _NUMBERS[self.kind]

    @property
    def type(self) -> str:
        return self.kind

    def sync(self, stream: object = None) -> None:
        """No-op: calls on such arrays wait for their kernels."""

    def __repr__(self) -> str:
        return f"{self.kind}({self.index})"


def cpu(index: int = 0) -> Device:
    """The CPU."""
    return Device(index)


def cuda(index: int = 0) -> Device:
    """An NVIDIA GPU; without one, kernels run on the CPU."""
    return Device(index, "cuda")


def opencl(index: int = 0) -> Device:
    """A device with OpenCL."""
    return Device(index, "opencl")


def device(name: str = "cpu", index: int = 0) -> Device:
    """A device by its name: "cpu" or "llvm", "cuda", "cuda:1", "opencl". Raises ArgumentError for others."""
    kind, _, number = str(name).partition(":")
    if kind not in _KINDS:
        devices = ", ".join(f"tvm.{k}()" for k in _NUMBERS)
        raise ArgumentError(f"tvm.device({short_repr(name)}): programs run on the CPU and GPUs here; use {devices}")
    return Device(int(number or index), _KINDS[kind])


class NDArray:
    """An array argument: `.numpy()` returns a copy, `.shape` and `.dtype` describe it."""

    def __init__(self, memory: np.ndarray, dtype: str, device: Device):
        self._memory = memory
        self.dtype = dtype
        self.device = device

    @property
    def shape(self) -> tuple[int, ...]:
        return self._memory.shape

    @property
    def ndim(self) -> int:
        return self._memory.ndim

    def numpy(self) -> np.ndarray:
        """A copy as a NumPy array; bfloat16 as the uint16 of its bits."""
        return self._memory.copy()

    asnumpy = numpy

    def copyfrom(self, source: NDArray | ArrayLike) -> NDArray:
        """Overwrite with an array of the same shape; element types are converted."""
        values = memory_of(source) if isinstance(source, NDArray) else np.asarray(source)
        if values.shape != self.shape:
            raise ArgumentError(f"copyfrom: the source has shape {values.shape}, the array {self.shape}")
        self._memory[...] = values
        return self

    def copyto(self, target: NDArray | Device) -> NDArray:
        """Copy into another array, or to a new one on a device."""
        return target.copyfrom(self) if isinstance(target, NDArray) else array(self, target)

    def __setitem__(self, item: object, value: NDArray | ArrayLike) -> None:
        if item not in (slice(None), Ellipsis):
            raise ArgumentError("an NDArray is written as a whole, a[:] = values; use .numpy() to read elements")
        self.copyfrom(value)

    def __dlpack__(self, **options: Any) -> CapsuleType:
        return self._memory.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._memory.__dlpack_device__()

    def item(self) -> bool | int | float:
        """The only element as a number. Raises ValueError if there are several."""
        if self.dtype == "bfloat16":  # kept as its bits
            return (self._memory.astype(np.uint32) << 16).view(np.float32).item()
        return self._memory.item()

    def __int__(self) -> int:
        return int(self.item())

    def __float__(self) -> float:
        return float(self.item())

    def __len__(self) -> int:
        return len(self._memory)

    def __repr__(self) -> str:
        return f"<NDArray shape={self.shape}, {self.dtype}, {self.device}>\n{self._memory}"


def memory_of(array: NDArray) -> np.ndarray:
    """The memory itself, not a copy."""
    return array._memory


def wrap_array(memory: np.ndarray) -> NDArray:
    """An NDArray over an array, not a copy."""
    return NDArray(memory, memory.dtype.name, Device())


def array(arr: NDArray | ArrayLike, device: Device | None = None) -> NDArray:
    """A new NDArray with the values of a NumPy array, an NDArray or a nested list."""
    source = memory_of(arr) if isinstance(arr, NDArray) else np.asarray(arr)
    dtype = arr.dtype if isinstance(arr, NDArray) else source.dtype.name
    copy = empty(source.shape, dtype, device)
    memory_of(copy)[...] = source
    return copy


def empty(shape: Sequence[int] | int, dtype: str = "float32", device: Device | None = None) -> NDArray:
    """A new NDArray with undefined values."""
    if device is not None and not isinstance(device, Device):
        raise ArgumentError(f"the device of an array must be tvm.cpu() or tvm.cuda(), not {short_repr(device)}")
    sizes = (int(shape),) if isinstance(shape, (int, np.integer)) else tuple(int(n) for n in shape)
    name = str(dtype)
    element = np.dtype("uint16" if name == "bfloat16" else name)  # NumPy has no bfloat16: store its bits
    size = int(np.prod(sizes, dtype=np.int64)) * element.itemsize
    raw = np.empty(size + _ALIGNMENT, np.uint8)
    start = -raw.__array_interface__["data"][0] % _ALIGNMENT
    return NDArray(raw[start : start + size].view(element).reshape(sizes), name, device or Device())
