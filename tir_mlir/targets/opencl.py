"""The back end of OpenCL: kernels to OpenCL C or to SPIR-V, which the device's own compiler takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, cast

from mlir import ir
from mlir.dialects.llvm import translate_module_to_llvmir

from tir_mlir.dialect.ir import enter_context
from tir_mlir.passes.lower.gpu.outline.index_width import index_bits
from tir_mlir.runtime.call.signature import CallSignature
from tir_mlir.runtime.drivers import opencl
from tir_mlir.runtime.drivers.device_driver import DeviceDriver, KernelCode
from tir_mlir.runtime.drivers.exporting import check_suffix
from tir_mlir.runtime.drivers.opencl import CHIP
from tir_mlir.runtime.gpu.function import DeviceFunction
from tir_mlir.runtime.gpu.host_program import HostProgram
from tir_mlir.runtime.gpu.loaded_code import LoadedCode
from tir_mlir.runtime.gpu.source import opencl_c, source_of
from tir_mlir.runtime.library import Library
from tir_mlir.runtime.tools import clang_codegen, files
from tir_mlir.target import OpenCL
from tir_mlir.targets.cuda import nvvm_passes
from tir_mlir.targets.kernels import (
    DEVICE,
    KERNELS,
    PrintedKernels,
    device_stages,
    extract_kernels,
    host_programs,
    kernel_library,
)
from tir_mlir.targets.stages import BackEnd, Compilation, Passes, Stage

CODE, BINARY = "code", "binary"
TO_SPIRV = "tir-lower-gpu-spirv"
"""Runs on the kernels alone, after the other passes."""
_AS_IT_IS = 0
"""The level of optimization: the device's compiler optimizes. LLVM 22's combiner for SPIR-V shifts 64 bits as 32."""


def spirv_passes(bits: int) -> tuple[str, ...]:
    """From kernels to the llvm dialect, before `TO_SPIRV`. bits: the width of an index."""
    return ("tir-lower-gpu-bounds", *nvvm_passes(bits, approximations=()))


def stages(compilation: Compilation) -> list[Stage]:
    return [
        *device_stages(_gpu(compilation)),
        Stage("lower", OpenclCode, CODE),
        Stage("lower", _print_or_compile, BINARY),
    ]


def _spirv_stages(gpu: OpenCL) -> list[Stage]:
    """From `DEVICE` to the llvm dialect with functions of SPIR-V."""
    options = {TO_SPIRV: {"warp": gpu.warp}}
    return [
        Stage("lower", Passes(lambda module: spirv_passes(index_bits(module)), DEVICE), KERNELS),
        Stage("lower", extract_kernels, KERNELS),
        Stage("lower", Passes(lambda _: (TO_SPIRV,), KERNELS, options), KERNELS),
    ]


def _gpu(compilation: Compilation) -> OpenCL:
    return cast(OpenCL, compilation.options.compiled_for)


def _print_or_compile(compilation: Compilation) -> KernelCode:
    """The kernels in the form that the device takes."""
    code: OpenclCode = compilation.values[CODE]
    return KernelCode("", CHIP, code.spirv) if _gpu(compilation).spirv else KernelCode(code.text, CHIP)


def load(compilation: Compilation) -> Library:
    code: OpenclCode = compilation.values[CODE]
    called = opencl_functions(compilation.signatures, host_programs(compilation), compilation.values[BINARY])
    return kernel_library(compilation, code, called, lambda: code.kernels)


@dataclass
class OpenclCode(PrintedKernels):
    """The kernels of a library, as OpenCL C, and in the llvm dialect with functions of SPIR-V, when they are asked
    for."""

    compilation: Compilation

    def source(self) -> str:
        return self.text

    @cached_property
    def text(self) -> str:
        """OpenCL C. Raises BuildError for what it has nothing for."""
        with enter_context():
            return source_of(self.compilation.values[DEVICE], opencl_c(_gpu(self.compilation).warp))

    @cached_property
    def kernels(self) -> ir.Module:
        """The kernels in the llvm dialect. Raises LoweringError for what SPIR-V has nothing for."""
        with enter_context():
            self.compilation.run(_spirv_stages(_gpu(self.compilation)))
        return self.compilation.values[KERNELS]

    def assembly(self) -> str:
        """The SPIR-V, disassembled. Raises MissingTool without the C compiler."""
        return self._compile_kernels(clang_codegen.ASSEMBLY).decode()

    @cached_property
    def spirv(self) -> bytes:
        """The words of SPIR-V. Raises MissingTool without the C compiler."""
        return self._compile_kernels(clang_codegen.OBJECT)

    def _compile_kernels(self, output: str) -> bytes:
        with enter_context():
            text = translate_module_to_llvmir(self.kernels.operation)
        return clang_codegen.compile_ir(text, _gpu(self.compilation).triple, "", "", output, _AS_IT_IS)

    def write(self, path: Path, name: str | None = None) -> list[Path]:
        """Write a file of the library, see `Library.export`."""
        if path.suffix == ".spv":
            check_suffix(path, name, ".spv", "OpenCL")
            files.write_whole({path: self.spirv})
        else:
            check_suffix(path, name, ".cl", "OpenCL")
            files.write_whole({path: self.text.encode()})
        return [path]


class OpenclFunction(DeviceFunction):
    """A function whose kernels run by OpenCL, on NumPy arrays, which are copied."""

    def driver(self) -> DeviceDriver:
        return opencl.opencl()

    def _warn_of_copies(self, args: Sequence[Any]) -> None:
        """Warn of nothing: OpenCL functions take NumPy arrays."""


def opencl_functions(
    signatures: Sequence[CallSignature], programs: Mapping[str, HostProgram], code: KernelCode
) -> dict[str, OpenclFunction]:
    """A callable for each signature."""
    loaded = LoadedCode(code)
    return {s.name: OpenclFunction(s, programs[s.name], loaded) for s in signatures}


BACK_END = BackEnd(stages=stages, load=load)
