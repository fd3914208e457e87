"""Tensor maps of CUDA: what the TMA of a GPU knows of an array, made by the driver, 128 bytes in main memory."""

from __future__ import annotations

import ctypes
from collections import OrderedDict
from ctypes import byref, c_uint32, c_uint64
from typing import Any

import numpy as np

from tir_mlir.dialect.diagnostics import DeviceError
from tir_mlir.runtime.drivers.device_driver import TensorMapLayout

BYTES, ALIGNMENT = 128, 64
KEPT = 1024
"""Tensor maps that are kept for the next call."""

# numbers of cuda.h
_TYPES = {
    "uint8": 0, "int8": 0, "bool": 0, "uint16": 1, "int16": 1, "uint32": 2, "int32": 3, "uint64": 4, "int64": 5,
    "float16": 6, "float32": 7, "float64": 8, "bfloat16": 9,
}  # fmt: skip
_SWIZZLES = {0: 0, 32: 1, 64: 2, 128: 3}
_NO_INTERLEAVE, _L2_128B, _ZEROS = 0, 2, 0


class TensorMaps:
    """The tensor maps of the arrays of calls, by address and layout. library: the driver's."""

    def __init__(self, library: ctypes.CDLL):
        self._library = library
        self._maps: OrderedDict[tuple[int, TensorMapLayout], ctypes.Array[Any]] = OrderedDict()

    def address(self, array: int, layout: TensorMapLayout) -> int:
        """The address, in main memory, of the tensor map of an array at an address of a GPU; it lives until KEPT
        others are used. Raises DeviceError where the driver has none, or refuses it."""
        key = array, layout
        if key in self._maps:
            self._maps.move_to_end(key)
        else:
            self._maps[key] = self._encode(array, layout)
            if len(self._maps) > KEPT:
                self._maps.popitem(last=False)
        return _align(self._maps[key])

    def _encode(self, array: int, layout: TensorMapLayout) -> ctypes.Array[Any]:
        encode = getattr(self._library, "cuTensorMapEncodeTiled", None)
        if encode is None:
            raise DeviceError("the driver has no cuTensorMapEncodeTiled: it is too old for kernels by the TMA, 12.0")
        rank, size = len(layout.shape), _item_bytes(layout.dtype)
        strides = [size * int(np.prod(layout.shape[n + 1 :])) for n in range(rank - 1)]
        memory = (ctypes.c_uint8 * (BYTES + ALIGNMENT))()
        status = encode(
            ctypes.c_void_p(_align(memory)), _TYPES[layout.dtype], c_uint32(rank), ctypes.c_void_p(array),
            byref(_numbers(c_uint64, layout.shape[::-1])), byref(_numbers(c_uint64, strides[::-1] or [0])),
            byref(_numbers(c_uint32, layout.box[::-1])), byref(_numbers(c_uint32, [1] * rank)),
            _NO_INTERLEAVE, _SWIZZLES[layout.swizzle], _L2_128B, _ZEROS,
        )  # fmt: skip
        if status:
            raise DeviceError(f"the driver makes no tensor map of an array at {array:#x}, {layout}: error {status}")
        return memory


def _numbers(kind: Any, values: Any) -> ctypes.Array[Any]:
    return (kind * len(values))(*values)


def _align(memory: ctypes.Array[Any]) -> int:
    start = ctypes.addressof(memory)
    return -(-start // ALIGNMENT) * ALIGNMENT


def _item_bytes(dtype: str) -> int:
    return 2 if dtype == "bfloat16" else np.dtype(dtype).itemsize
