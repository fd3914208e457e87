"""The launches of a call as data of native code, `entry.c`, which starts them without Python between them."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Sequence
from ctypes import c_int, c_uint64, c_void_p
from functools import cache

from tir_mlir.runtime.call import fast_entry
from tir_mlir.runtime.drivers.device_driver import Launch, NativeDriver
from tir_mlir.runtime.gpu.host_program import DeviceBuffer, LaunchArgument, Scalar, TensorMapOf

_STATUS = 0  # the first word of struct kernels
_OF_BUFFER, _OF_NUMBER, _CONSTANT, _OF_FUNCTION = range(4)


class Kernels:
    """struct kernels of entry.c: what a call starts on a device. `device`: DLPack's kind and number; current_stream:
    the address of DLPack's function that says the stream, 0 for `start` only; buffers: the bytes of those of the
    function; launches: kernel, launch, arguments; stream: the only one that it is for, None: it is for all."""

    def __init__(
        self,
        driver: NativeDriver,
        device: tuple[int, int],
        current_stream: int,
        buffers: Sequence[int],
        launches: Sequence[tuple[int, Launch, Sequence[LaunchArgument]]],
        stream: int | None = None,
    ):
        calls = ctypes.cast(ctypes.CDLL(None).getpid, c_void_p).value, driver.get_context, driver.set_context
        words = [0, os.getpid(), *calls, driver.context, current_stream, stream is not None, stream, *device]
        words += [driver.start, driver.allocate, driver.release, len(buffers), len(launches), *buffers]
        for kernel, launch, arguments in launches:
            words += [kernel, *launch.grid, *launch.block, launch.shared_bytes, len(arguments)]
            words += [word for argument in arguments for word in _source(argument)]
        self._words = (c_uint64 * len(words))(*[int(w or 0) for w in words])
        self.address = ctypes.addressof(self._words)
        given = [a for _, _, arguments in launches for a in arguments if isinstance(a, DeviceBuffer)]
        self._buffers = sorted({a.number for a in given if not a.is_temporary})

    @property
    def status(self) -> int:
        """The error of a start that failed after another kernel of the call had been started; else 0."""
        return self._words[_STATUS]

    def start(self, stream: int, arguments: Sequence[int]) -> bool:
        """Start all kernels on a stream, by one native call. arguments: the address, or the bits, of each parameter.
        Returns whether all of them were started."""
        count = len(arguments)
        descriptors = (c_uint64 * (2 * count + 1))()
        first = ctypes.addressof(descriptors)
        values = (c_uint64 * (count + 1))(*arguments)
        for number in self._buffers:
            descriptors[2 * number + 1] = arguments[number]
            values[number] = first + 16 * number
        return not _start()(self.address, values, stream)


def _source(argument: LaunchArgument) -> tuple[int, int]:
    assert not isinstance(argument, TensorMapOf), "calls with tensor maps do not come here"
    if isinstance(argument, DeviceBuffer):
        return (_OF_FUNCTION if argument.is_temporary else _OF_BUFFER), argument.number
    return (_OF_NUMBER, argument.number) if isinstance(argument, Scalar) else (_CONSTANT, argument)


def can_start() -> bool:
    """Whether the native code can be used in this Python."""
    return fast_entry.entry() is not None


@cache
def _start() -> Callable[..., int]:
    entry = fast_entry.entry()
    assert entry is not None
    return ctypes.CFUNCTYPE(c_int, c_void_p, c_void_p, c_void_p)(entry.code.address("tir_start"))
