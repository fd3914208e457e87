"""Arrays of other packages in place, by DLPack: their memory, device and stream.

A tensor on a GPU becomes a NumPy array *of the same addresses*: with its shape, strides and type, so that the checks of
arguments are those of CPU calls. Its elements are never accessed.
"""

from __future__ import annotations

import ctypes
import functools
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tir_mlir.runtime.call import borrowed_tensors

CPU, CUDA, MANAGED = 1, 2, 13
DEVICES = {
    1: "the CPU", 2: "cuda", 3: "the CPU (pinned)", 4: "OpenCL", 7: "Vulkan", 8: "Metal", 10: "rocm", 13: "cuda",
    14: "oneAPI",
}  # fmt: skip
_READ_ONLY = 1
NO_SYNCHRONIZATION = -1
_KINDS = {0: "int", 1: "uint", 2: "float", 4: "bfloat", 5: "complex", 6: "bool"}


class DLPackTensor(ctypes.Structure):
    """`DLTensor` of dlpack.h."""

    _fields_ = [
        ("data", ctypes.c_void_p), ("device", ctypes.c_int32), ("device_id", ctypes.c_int32),
        ("rank", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("offset", ctypes.c_uint64),
    ]  # fmt: skip


class VersionedTensor(ctypes.Structure):
    """`DLManagedTensorVersioned` of dlpack.h."""

    _fields_ = [
        ("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("owner", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p), ("flags", ctypes.c_uint64), ("tensor", DLPackTensor),
    ]  # fmt: skip


@dataclass(frozen=True)
class DeviceTensor:
    """A tensor on a device: an array of its addresses, its type by name, its device, and what keeps it alive."""

    array: np.ndarray
    dtype: str
    device: int
    owner: object


class _Addresses:
    """What NumPy makes an array of, without a look at the memory."""

    def __init__(self, start: int, read_only: bool, shape: tuple[int, ...], strides: tuple[int, ...], dtype: str):
        typestr = np.dtype(dtype).str
        data = start, read_only
        self.__array_interface__ = {"version": 3, "data": data, "shape": shape, "strides": strides, "typestr": typestr}


def device_of(value: object) -> tuple[int, int] | None:
    """The device of an array, DLPack's kind and number; None for what is not an array of DLPack."""
    device = getattr(value, "__dlpack_device__", None)
    if device is None:
        return None
    kind, number = device()
    return int(kind), int(number)


def device_text(device: tuple[int, int]) -> str:
    """`cuda:0`, `the CPU`."""
    kind, number = device
    name = DEVICES.get(kind, f"device type {kind} of DLPack")
    return f"{name}:{number}" if kind in (CUDA, MANAGED, 10) else name


def borrow_tensor(value: object, stream: int) -> DeviceTensor:
    """The memory of a tensor on a GPU, ordered before what is started on the stream from now on.

    Raises what the tensor's package raises: TypeError, ValueError, RuntimeError or BufferError.
    """
    capsule = _capsule(value, NO_SYNCHRONIZATION if _stream_call(value) is not None else stream)
    tensor, flags = _contents(capsule)
    rank = tensor.rank
    shape = tuple(tensor.shape[:rank])
    dtype = dtype_name(tensor.code, tensor.bits, tensor.lanes)
    steps = tuple(tensor.strides[:rank]) if tensor.strides else row_major(shape)
    stored = "uint16" if dtype == "bfloat16" else dtype
    size = np.dtype(stored).itemsize
    start = (tensor.data or 0) + tensor.offset
    addresses = _Addresses(start, bool(flags & _READ_ONLY), shape, tuple(s * size for s in steps), stored)
    return DeviceTensor(np.asarray(addresses), dtype, tensor.device_id, capsule)


def _capsule(value: Any, stream: int) -> object:
    try:
        return value.__dlpack__(stream=stream, max_version=(1, 0))
    except TypeError:  # packages of DLPack before 1.0
        return value.__dlpack__(stream=stream)


@functools.cache
def _capsule_calls() -> tuple[Callable[..., int], Callable[..., int]]:
    api = ctypes.PyDLL(None)
    api.PyCapsule_IsValid.argtypes = api.PyCapsule_GetPointer.argtypes = ctypes.py_object, ctypes.c_char_p
    api.PyCapsule_GetPointer.restype = ctypes.c_void_p
    return api.PyCapsule_IsValid, api.PyCapsule_GetPointer


def _contents(capsule: object) -> tuple[DLPackTensor, int]:
    """The tensor of a capsule, which remains the owner, and its flags."""
    is_valid, pointer = _capsule_calls()
    if is_valid(capsule, b"dltensor_versioned"):
        versioned = VersionedTensor.from_address(pointer(capsule, b"dltensor_versioned"))
        if versioned.major != 1:
            raise BufferError(f"version {versioned.major} of DLPack is not supported, 1 is")
        return versioned.tensor, versioned.flags
    if is_valid(capsule, b"dltensor"):
        return DLPackTensor.from_address(pointer(capsule, b"dltensor")), 0
    raise BufferError("its __dlpack__ gives no tensor")


def dtype_name(code: int, bits: int, lanes: int = 1) -> str:
    """`float32` for DLPack's code 2 and 32 bits. Errors: TypeError for types that NumPy has no array of."""
    kind = _KINDS.get(code)
    name = "bool" if kind == "bool" else f"{kind}{bits}"
    if kind is None or lanes != 1 or (name != "bfloat16" and not hasattr(np, name)):
        raise TypeError(f"its type, code {code} of DLPack with {bits} bits, is not supported")
    return name


def row_major(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Strides of a compact array, in elements."""
    strides, step = [], 1
    for size in reversed(shape):
        strides.append(step)
        step *= max(size, 1)
    return tuple(strides[::-1])


# --- streams ----------------------------------------------------------------------------------------------------------


def package_of(value: object) -> str:
    """The package of a type of arrays: `torch`, `cupy`, `jaxlib`."""
    return type(value).__module__.partition(".")[0]


def _torch_stream(device: int) -> int:
    return sys.modules["torch"].cuda.current_stream(device).cuda_stream


def _cupy_stream(device: int) -> int:
    cupy = sys.modules["cupy"]
    with cupy.cuda.Device(device):
        return cupy.cuda.get_current_stream().ptr


CURRENT_STREAM: dict[str, Callable[[int], int]] = {"torch": _torch_stream, "cupy": _cupy_stream}
"""By package, its current stream of a device."""
_CurrentStream = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.POINTER(ctypes.c_void_p))


def current_stream(value: object, device: int) -> int | None:
    """The current stream of an array's package: kernels run there, and the package's own work before and after them is
    in order without waiting. None for a package without one, which gets the stream by `__dlpack__`."""
    call = _stream_call(value)
    return None if call is None else call(device)


def _stream_call(value: object) -> Callable[[int], int] | None:
    call = CURRENT_STREAM.get(package_of(value))
    if call is None and (address := borrowed_tensors.exchange(type(value))[1]):
        return functools.partial(_exchange_stream, address)
    return call


def _exchange_stream(address: int, device: int) -> int:
    """The stream by DLPack's C exchange API."""
    stream = ctypes.c_void_p()
    if _CurrentStream(address)(CUDA, device, ctypes.byref(stream)):
        raise BufferError("its package does not say its current stream")
    return stream.value or 0
