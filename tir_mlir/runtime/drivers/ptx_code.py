"""The code of a library for an NVIDIA GPU: PTX, which the driver of the machine with the GPU compiles."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from mlir import ir

from tir_mlir.dialect.ir import enter_context
from tir_mlir.runtime.drivers.exporting import check_suffix
from tir_mlir.runtime.llvm.object_code import LLVMTarget, assembly_of
from tir_mlir.runtime.tools import files
from tir_mlir.target import CUDA

PASSES = b"default<O3>"
"""LLVM's pipeline. It gets the target: without it, threads of a warp may part before an instruction that needs all."""


@dataclass
class PtxCode:
    """The kernels of a library. device: the module with the functions that launch them (see `lower_to_device`).
    kernels: the kernels in the llvm dialect. print_source: prints the kernels of the first one in CUDA C."""

    device: ir.Module
    kernels: ir.Module
    target: CUDA
    clock: Callable[[str], Any]
    print_source: Callable[[ir.Module], str]

    def assembly(self) -> str:
        """The PTX."""
        return self.ptx

    def source(self) -> str:
        """The kernels in CUDA C."""
        with enter_context():
            return self.print_source(self.device)

    @cached_property
    def ptx(self) -> str:
        gpu = self.target
        with enter_context():
            code = LLVMTarget(gpu.triple.encode(), gpu.chip.encode(), gpu.llvm_features.encode())
            return assembly_of(self.kernels, code, self.clock, PASSES)

    def write(self, path: Path, name: str | None = None) -> list[Path]:
        """Write a file of the library, see `Library.export`."""
        check_suffix(path, name, ".ptx", "code of a GPU")
        files.write_whole({path: self.ptx.encode()})
        return [path]
