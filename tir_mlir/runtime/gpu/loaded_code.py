"""The code of kernels on the devices where it was called."""

from __future__ import annotations

import threading

from tir_mlir.runtime.drivers.device_driver import DeviceDriver, KernelCode


class LoadedCode:
    """The code of a library on each device where it was called."""

    def __init__(self, code: KernelCode):
        self.code = code
        self._lock = threading.Lock()
        self._modules: dict[tuple[int, int], tuple[DeviceDriver, object]] = {}

    def module_on_device(self, driver: DeviceDriver, device: int) -> object:
        """The loaded module on a device."""
        with self._lock:
            key = id(driver), device
            if key not in self._modules:
                self._modules[key] = driver, driver.load(device, self.code)
            return self._modules[key][1]
