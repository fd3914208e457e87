"""OpenCL of this machine, where it compiles kernels: PoCL's LLVM may be older than the CPU, and compiles nothing."""

from __future__ import annotations

import functools

import pytest

from tir_mlir.dialect.diagnostics import BuildError, DeviceError
from tir_mlir.runtime.drivers.device_driver import KernelCode
from tir_mlir.runtime.drivers.opencl import CHIP, opencl


@functools.cache
def _missing() -> str:
    """Why no kernel runs here: "" if the first device compiles an empty one."""
    try:
        opencl().load(0, KernelCode("__kernel void empty() {}", CHIP))
    except (BuildError, DeviceError) as error:
        return str(error).partition("\n")[0]
    return ""


def need_opencl() -> None:
    """Skip the test where no kernel in OpenCL C runs."""
    if reason := _missing():
        pytest.skip(reason)
