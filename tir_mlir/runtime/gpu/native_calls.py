"""Launches for `runtime/call/entry.c`: calls that fit a plan start their kernels without a Python frame."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Sequence
from typing import Any

from tir_mlir.runtime.drivers.device_driver import Launch, NativeDriver
from tir_mlir.runtime.gpu.host_program import DeviceBuffer, Scalar

_STATUS = 0  # the first word of struct kernels
_OF_BUFFER, _OF_NUMBER, _CONSTANT, _OF_FUNCTION = range(4)


class Kernels:
    """struct kernels of entry.c: what a call starts on a device. `device`: DLPack's kind and number; current_stream:
    the address of DLPack's function that says the stream; buffers: the bytes of those of the function; launches:
    kernel, launch, arguments."""

    def __init__(
        self,
        driver: NativeDriver,
        device: tuple[int, int],
        current_stream: int,
        buffers: Sequence[int],
        launches: Sequence[tuple[int, Launch, Sequence[DeviceBuffer | Scalar | int]]],
    ):
        calls = ctypes.cast(ctypes.CDLL(None).getpid, ctypes.c_void_p).value, driver.get_context, driver.set_context
        words = [0, os.getpid(), *calls, driver.context, current_stream, *device, driver.start]
        words += [driver.allocate, driver.release, len(buffers), len(launches), *buffers]
        for kernel, launch, arguments in launches:
            words += [kernel, *launch.grid, *launch.block, launch.shared_bytes, len(arguments)]
            words += [word for argument in arguments for word in _source(argument)]
        self._words = (ctypes.c_uint64 * len(words))(*[int(w or 0) for w in words])
        self.address = ctypes.addressof(self._words)

    @property
    def status(self) -> int:
        """The error of a start that failed after another kernel of the call had been started; else 0."""
        return self._words[_STATUS]


def _source(argument: Any) -> tuple[int, int]:
    if isinstance(argument, DeviceBuffer):
        return (_OF_FUNCTION if argument.is_temporary else _OF_BUFFER), argument.number
    return (_OF_NUMBER, argument.number) if isinstance(argument, Scalar) else (_CONSTANT, argument)
