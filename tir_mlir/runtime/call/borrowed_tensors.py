"""How `entry.c` gets at the memory of an argument: as a NumPy array, or as a tensor borrowed by DLPack's C exchange
API.

Tensors are in main memory, or on one GPU.

A type with the attribute `__dlpack_c_exchange_api__` (torch from 2.10 on) lends its tensors without a Python object for
each call.
"""

from __future__ import annotations

import ctypes
import functools
import sys
from dataclasses import dataclass

import numpy as np

_NAME = "__dlpack_c_exchange_api__"
_VERSION, _LEND, _STREAM = 0, 5, 6  # words of struct DLPackExchangeAPI
CPU = (1, 0)
"""DLPack's kind and number of a device."""
_GRAD = sys.intern("requires_grad")  # in torch: tensors that DLPack's Python protocol refuses, but lends in C


@dataclass(frozen=True)
class ArgumentSource:
    """A type of arguments: its function that lends a tensor (0: NumPy arrays), the address of the name of an attribute
    that must be False or 0; the dtype and strides of one argument, as arrays or tensors have them.

    device: DLPack's kind and number.
    current_stream: the function of its package that says the stream of a GPU.
    """

    type: type
    exchange: int
    grad: int
    dtype: int
    strides: tuple[int, ...]
    device: tuple[int, int] = CPU
    current_stream: int = 0


class _DLTensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p), ("device", ctypes.c_int32), ("device_id", ctypes.c_int32),
        ("rank", ctypes.c_int32), ("dtype", ctypes.c_uint32), ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)), ("offset", ctypes.c_uint64),
    ]  # fmt: skip


_Lend = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.POINTER(_DLTensor))


def source(value: object, array: np.ndarray, device: tuple[int, int] = CPU) -> ArgumentSource:
    """How to get at the memory of an argument, whose memory is `array`, of a device."""
    kind = type(value)
    lend, stream = (0, 0) if isinstance(value, np.ndarray) else exchange(kind)
    tensor = _borrow_tensor(lend, value) if lend else None
    if tensor is None or not _is_on(tensor, device) or not _is_same(tensor, array):
        return ArgumentSource(np.ndarray, 0, 0, id(array.dtype), array.strides)
    grad = id(_GRAD) if hasattr(kind, _GRAD) else 0
    return ArgumentSource(kind, lend, grad, tensor.dtype, tuple(tensor.strides[: array.ndim]), device, stream)


@functools.lru_cache(64)
def exchange(kind: type) -> tuple[int, int]:
    """The addresses of the functions of a type that lend tensors and say the current stream; 0 if it has none."""
    capsule = getattr(kind, _NAME, None)
    if type(capsule).__name__ != "PyCapsule":
        return 0, 0
    pointer = ctypes.PyDLL(None).PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
    try:
        words = (ctypes.c_uint64 * (_STREAM + 1)).from_address(pointer(capsule, b"dlpack_exchange_api"))
    except ValueError:  # a capsule of another name
        return 0, 0
    return (words[_LEND], words[_STREAM]) if words[_VERSION] & 0xFFFFFFFF == 1 else (0, 0)


def _borrow_tensor(lend: int, value: object) -> _DLTensor | None:
    tensor = _DLTensor()
    try:
        return None if _Lend(lend)(value, ctypes.byref(tensor)) else tensor
    except Exception:  # the function is foreign: whatever it raises, the call takes the way through Python
        return None


def _is_on(tensor: _DLTensor, device: tuple[int, int]) -> bool:
    return tensor.device == device[0] and (device == CPU or tensor.device_id == device[1])


def _is_same(tensor: _DLTensor, array: np.ndarray) -> bool:
    """Whether a tensor is the memory of an array."""
    if tensor.rank != array.ndim or (array.ndim and not tensor.strides):
        return False
    shape = tuple(tensor.shape[: array.ndim])
    start = (tensor.data or 0) + tensor.offset
    return shape == array.shape and (start == array.__array_interface__["data"][0] or not array.size)
