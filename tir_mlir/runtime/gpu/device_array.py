"""Arrays in the memory of a device, which this package makes: other packages take them by DLPack."""

from __future__ import annotations

import ctypes
import functools
import sys
from typing import Any

import numpy as np

from tir_mlir.dialect.diagnostics import DeviceError, ForkError
from tir_mlir.runtime.drivers.device_driver import DeviceDriver, active
from tir_mlir.runtime.gpu.tensors import CUDA, DLPackTensor, VersionedTensor, row_major

_CODES = {"i": 0, "u": 1, "f": 2}
_BFLOAT = 4


class DeviceArray:
    """A row-major array on a GPU. shape; dtype: by name, as "float32", "bfloat16"; device: its number.

    `array.numpy()` is a copy in main memory, `device_array(x)` one of `x` on the device. Its memory is given back when
    nothing refers to it, after what was started on its stream.
    """

    def __init__(self, driver: DeviceDriver, device: int, stream: int, shape: tuple[int, ...], dtype: str):
        self.driver, self.device, self.stream, self.shape, self.dtype = driver, device, stream, shape, dtype
        self._stored = np.dtype("uint16" if dtype == "bfloat16" else dtype)
        self.nbytes = int(np.prod(shape, dtype=np.int64)) * self._stored.itemsize
        self.address = driver.allocate(device, max(self.nbytes, 1), stream)

    @property
    def ndim(self) -> int:
        return len(self.shape)

    def numpy(self) -> np.ndarray:
        """A copy in main memory, of what was started on the stream of the array; bfloat16 as uint16."""
        result = np.empty(self.shape, self._stored)
        self.driver.copy_out(self.device, result, self.address, self.stream)
        self.driver.synchronize(self.device, self.stream)
        return result

    def copy_from(self, values: np.ndarray) -> None:
        """Copy an array of this shape and type to the device."""
        self.driver.copy_in(self.device, self.address, np.ascontiguousarray(values), self.stream)
        self.driver.synchronize(self.device, self.stream)  # the caller may change its array

    def __dlpack_device__(self) -> tuple[int, int]:
        return CUDA, self.device

    def __dlpack__(self, *, stream: int | None = None, max_version: tuple[int, int] | None = None, **_: Any) -> Any:
        """The array as a capsule of DLPack, which keeps it alive."""
        if stream not in (None, -1, self.stream):
            self.driver.synchronize(self.device, self.stream)
        return _capsule(self, versioned=max_version is not None and max_version[0] >= 1)

    def __repr__(self) -> str:
        return f"<array {self.shape} {self.dtype} on device {self.device} of {self.driver.name}>"

    def __del__(self) -> None:
        if not hasattr(self, "address") or sys.is_finalizing():
            return
        try:
            self.driver.free(self.device, self.address, self.stream)
        except (DeviceError, ForkError):
            return  # the process is a child, or the device is lost: there is nothing to give back


def device_array(values: np.ndarray, device: int | None = None) -> DeviceArray:
    """A copy of a NumPy array in the memory of a GPU, by default the current one. Errors: DeviceError without a GPU,
    or without room."""
    driver = active()
    number = driver.current_device() if device is None else device
    array = DeviceArray(driver, number, driver.current_stream(number), values.shape, str(values.dtype))
    array.copy_from(values)
    return array


# What goes to other packages: a capsule, and structs that live until the package calls `deleter`; where no package
# takes the capsule, its destructor does.


class _Managed(ctypes.Structure):
    _fields_ = [("tensor", DLPackTensor), ("owner", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


_Callback = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_NAMES = {False: b"dltensor", True: b"dltensor_versioned"}
_alive: dict[int, tuple[object, ...]] = {}
"""By address of a struct, what it refers to."""


@_Callback
def _delete(address: int) -> None:
    _alive.pop(address, None)


@_Callback
def _destroy(capsule: int) -> None:
    """The destructor of a capsule: its name is another one where a package took it."""
    api = _api()
    for name in _NAMES.values():
        if api.PyCapsule_IsValid(capsule, name):
            _alive.pop(api.PyCapsule_GetPointer(capsule, name), None)


@functools.cache
def _api() -> Any:
    api = ctypes.PyDLL(None)
    api.PyCapsule_New.restype = ctypes.py_object
    api.PyCapsule_New.argtypes = (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
    api.PyCapsule_IsValid.argtypes = api.PyCapsule_GetPointer.argtypes = ctypes.c_void_p, ctypes.c_char_p
    api.PyCapsule_GetPointer.restype = ctypes.c_void_p
    return api


def _capsule(array: DeviceArray, versioned: bool) -> Any:
    rank = array.ndim
    shape, strides = (ctypes.c_int64 * rank)(*array.shape), (ctypes.c_int64 * rank)(*row_major(array.shape))
    code = _BFLOAT if array.dtype == "bfloat16" else 6 if array.dtype == "bool" else _CODES[np.dtype(array.dtype).kind]
    bits = 8 if array.dtype == "bool" else 8 * np.dtype("uint16" if code == _BFLOAT else array.dtype).itemsize
    tensor = DLPackTensor(array.address, CUDA, array.device, rank, code, bits, 1, shape, strides, 0)
    deleter = ctypes.cast(_delete, ctypes.c_void_p)
    struct = VersionedTensor(1, 0, None, deleter, 0, tensor) if versioned else _Managed(tensor, None, deleter)
    address = ctypes.addressof(struct)
    _alive[address] = array, struct, shape, strides
    return _api().PyCapsule_New(address, _NAMES[versioned], ctypes.cast(_destroy, ctypes.c_void_p))
