"""The code of a library for OpenCL: its kernels as OpenCL C and as SPIR-V, which the device's own compiler takes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from mlir import ir
from mlir.dialects.llvm import translate_module_to_llvmir  # pyright: ignore[reportAttributeAccessIssue]

from tir_mlir.dialect.ir import enter_context
from tir_mlir.runtime.drivers.exporting import check_suffix
from tir_mlir.runtime.tools import clang_codegen, files
from tir_mlir.target import OpenCL

_AS_IT_IS = 0
"""The level of optimization: the device's compiler optimizes. LLVM 22's combiner for SPIR-V shifts 64 bits as 32."""


@dataclass
class OpenclCode:
    """The kernels of a library, `print_source` as OpenCL C, `lower` in the llvm dialect with functions of SPIR-V."""

    target: OpenCL
    print_source: Callable[[], str]
    lower: Callable[[], ir.Module]

    def source(self) -> str:
        return self.text

    @cached_property
    def text(self) -> str:
        """OpenCL C. Raises BuildError for what it has nothing for."""
        with enter_context():
            return self.print_source()

    @cached_property
    def kernels(self) -> ir.Module:
        """The kernels in the llvm dialect. Raises LoweringError for what SPIR-V has nothing for."""
        return self.lower()

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
        return clang_codegen.compile_ir(text, self.target.triple, "", "", output, _AS_IT_IS)

    def write(self, path: Path, name: str | None = None) -> list[Path]:
        """Write a file of the library, see `Library.export`."""
        if path.suffix == ".spv":
            check_suffix(path, name, ".spv", "OpenCL")
            files.write_whole({path: self.spirv})
        else:
            check_suffix(path, name, ".cl", "OpenCL")
            files.write_whole({path: self.text.encode()})
        return [path]
