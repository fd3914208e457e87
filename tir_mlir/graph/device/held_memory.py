"""The memory that a model keeps on devices: its weights, copied once, and the arena of each stream."""

from __future__ import annotations

import sys
import threading
import weakref
from typing import TypeAlias

import numpy as np

from tir_mlir.dialect.diagnostics import DeviceError, ForkError
from tir_mlir.graph.device.graph_program import HeldBuffer
from tir_mlir.runtime.drivers.device_driver import DeviceDriver

_Allocation: TypeAlias = tuple[DeviceDriver, int, int, int]
"""The driver, the device, the address, the stream that it was allocated on."""


class HeldMemory:
    """Memory of `size` bytes on each device, or on each stream of a device, where it is used; given back with this.

    contents: what is copied there once; None: nothing. On the machine in NumPy each buffer has memory of its own, so
    that it sees accesses outside of one, and reads of what nobody wrote.
    """

    def __init__(self, size: int, contents: np.ndarray | None = None, by_stream: bool = False):
        self.size, self.contents, self.by_stream = size, contents, by_stream
        self._lock = threading.Lock()
        self._starts: dict[tuple[int, ...], int] = {}
        self._allocations: list[_Allocation] = []
        weakref.finalize(self, _free, self._allocations)

    def address(self, driver: DeviceDriver, device: int, stream: int, buffer: HeldBuffer) -> int:
        """Where a buffer lies on a device. Raises DeviceMemoryError without room."""
        of_stream = (stream,) if self.by_stream else ()
        if driver.is_machine:
            key = id(driver), device, *of_stream, buffer.offset, buffer.bytes
            return self._start(key, driver, device, stream, buffer.offset, buffer.bytes)
        return self._start((id(driver), device, *of_stream), driver, device, stream, 0, self.size) + buffer.offset

    def _start(
        self, key: tuple[int, ...], driver: DeviceDriver, device: int, stream: int, offset: int, size: int
    ) -> int:
        with self._lock:
            if key not in self._starts:
                self._starts[key] = self._allocate(driver, device, stream, size)
                if self.contents is not None:
                    driver.copy_in(device, self._starts[key], self.contents[offset : offset + size], stream)
                    driver.synchronize(device, stream)  # other streams use it, too
            return self._starts[key]

    def _allocate(self, driver: DeviceDriver, device: int, stream: int, size: int) -> int:
        address = driver.allocate(device, max(size, 1), stream)
        self._allocations.append((driver, device, address, stream))
        return address


def _free(allocations: list[_Allocation]) -> None:
    """Give memory back; nothing where the process ends, or is a child of the one that has the device."""
    if sys.is_finalizing():
        return
    for driver, device, address, stream in allocations:
        try:
            driver.free(device, address, stream)
        except (DeviceError, ForkError):
            return
