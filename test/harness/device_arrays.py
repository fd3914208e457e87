"""Arrays on a device without a GPU: what torch, cupy or jax pass by DLPack, over the memory of a driver."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from tir_mlir.runtime.gpu import tensors

_CODES = {"i": 0, "u": 1, "f": 2, "b": 6}
_api = ctypes.PyDLL(None)
_api.PyCapsule_New.restype = ctypes.py_object
_api.PyCapsule_New.argtypes = (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)


_kept: list[Any] = []


def lending(array_type: type, current_stream: int = 0x70) -> type:
    """A type of such arrays that also lends them in native code, by DLPack's exchange API, as torch does."""
    lend_type = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.POINTER(tensors.DLPackTensor))
    stream_type = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.POINTER(ctypes.c_void_p))

    @lend_type
    def lend(value: Any, out: Any) -> int:
        value.lent += 1
        out[0] = value.tensor()
        return 0

    @stream_type
    def stream(kind: int, device: int, out: Any) -> int:
        out[0] = current_stream + device
        return 0

    addresses = [ctypes.cast(f, ctypes.c_void_p).value for f in (lend, stream)]
    words, name = (ctypes.c_uint64 * 7)(1, 0, 0, 0, 0, *addresses), ctypes.create_string_buffer(b"dlpack_exchange_api")
    _kept.extend((lend, stream, words, name))
    capsule = _api.PyCapsule_New(ctypes.addressof(words), name, None)
    return type("Lent", (array_type,), {"__dlpack_c_exchange_api__": capsule, "lent": 0})


class DeviceArray:
    """An array in device memory, as packages have them. `seen`: the streams that `__dlpack__` was given.

    strides: in elements, row-major by default; dtype: the type by name, where it is not that of NumPy.
    """

    def __init__(
        self,
        driver: Any,
        values: np.ndarray,
        device: int = 0,
        strides: tuple[int, ...] | None = None,
        kind: int = tensors.CUDA,
        read_only: bool = False,
        version: int | None = 1,
        offset: int = 0,
    ):
        self.driver, self.device, self.kind, self.version = driver, device, kind, version
        self.values, self.offset = np.ascontiguousarray(values), offset
        size = values.nbytes + offset
        self.address = driver.allocate(device, max(size, 1), 0)
        driver.copy_in(device, self.address + offset, self.values, 0)
        self.strides = strides or tensors.row_major(values.shape)
        self.read_only = read_only
        self.seen: list[int] = []
        self._kept: list[Any] = []

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.kind, self.device

    def __dlpack__(self, *, stream: int, **options: Any) -> Any:
        if self.version is None and options:
            raise TypeError("__dlpack__() got an unexpected keyword argument 'max_version'")
        self.seen.append(stream)
        of = self.tensor()
        self._kept.append(of)
        if self.version is None:
            return _api.PyCapsule_New(ctypes.addressof(of), b"dltensor", None)
        versioned = tensors.VersionedTensor(self.version, 0, None, None, int(self.read_only), of)
        self._kept.append(versioned)
        return _api.PyCapsule_New(ctypes.addressof(versioned), b"dltensor_versioned", None)

    def tensor(self) -> Any:
        """DLPack's struct of the array."""
        rank = self.values.ndim
        shape, strides = (ctypes.c_int64 * rank)(*self.values.shape), (ctypes.c_int64 * rank)(*self.strides)
        self._kept = [shape, strides]
        code, bits = _CODES[self.values.dtype.kind], 8 * self.values.dtype.itemsize
        return tensors.DLPackTensor(
            self.address, self.kind, self.device, rank, code, bits, 1, shape, strides, self.offset
        )

    def get(self) -> np.ndarray:
        """A copy in main memory."""
        result = np.empty_like(self.values)
        self.driver.copy_out(self.device, result, self.address + self.offset, 0)
        return result
