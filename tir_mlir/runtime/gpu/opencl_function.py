"""Functions whose kernels run by OpenCL."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tir_mlir.runtime.call.signature import CallSignature
from tir_mlir.runtime.drivers import opencl
from tir_mlir.runtime.drivers.device_driver import DeviceDriver, KernelCode
from tir_mlir.runtime.gpu.function import DeviceFunction, LoadedCode
from tir_mlir.runtime.gpu.host_program import HostProgram


class OpenclFunction(DeviceFunction):
    """A function whose kernels run by OpenCL, on NumPy arrays, which are copied."""

    def driver(self) -> DeviceDriver:
        return opencl.opencl()

    def _warn_of_copies(self, args: Sequence[Any]) -> None:
        """Warn of nothing: OpenCL functions take NumPy arrays."""


def functions(
    signatures: Sequence[CallSignature], programs: Mapping[str, HostProgram], code: KernelCode
) -> dict[str, OpenclFunction]:
    """A callable for each signature."""
    loaded = LoadedCode(code)
    return {s.name: OpenclFunction(s, programs[s.name], loaded) for s in signatures}
