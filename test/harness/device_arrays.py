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
        rank = self.values.ndim
        shape, strides = (ctypes.c_int64 * rank)(*self.values.shape), (ctypes.c_int64 * rank)(*self.strides)
        code, bits = _CODES[self.values.dtype.kind], 8 * self.values.dtype.itemsize
        of = tensors._Tensor(self.address, self.kind, self.device, rank, code, bits, 1, shape, strides, self.offset)
        self._kept += [shape, strides, of]
        if self.version is None:
            return _api.PyCapsule_New(ctypes.addressof(of), b"dltensor", None)
        versioned = tensors._Versioned(self.version, 0, None, None, int(self.read_only), of)
        self._kept.append(versioned)
        return _api.PyCapsule_New(ctypes.addressof(versioned), b"dltensor_versioned", None)

    def get(self) -> np.ndarray:
        """A copy in main memory."""
        result = np.empty_like(self.values)
        self.driver.copy_out(self.device, result, self.address + self.offset, 0)
        return result
