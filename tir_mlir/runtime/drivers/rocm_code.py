"""The code of a library for a GPU of AMD: a code object, made by the clang and the linker of the C compiler's wheel."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NoReturn

from mlir import ir
from mlir.dialects.llvm import translate_module_to_llvmir  # pyright: ignore[reportAttributeAccessIssue]

from tir_mlir.dialect.diagnostics import BuildError
from tir_mlir.dialect.ir import enter_context
from tir_mlir.runtime.call.signature import CallSignature
from tir_mlir.runtime.drivers.exporting import check_suffix
from tir_mlir.runtime.tools import clang_codegen, files, toolchain
from tir_mlir.target import ROCM


@dataclass
class RocmCode:
    """The kernels of a library. device: the module with the functions that launch them (see `lower_to_device`).
    kernels: the kernels in the llvm dialect. print_source: prints the kernels of the first one in C."""

    device: ir.Module
    kernels: ir.Module
    target: ROCM
    print_source: Callable[[ir.Module], str]

    def source(self) -> str:
        """The kernels in CUDA C, which HIP takes."""
        with enter_context():
            return self.print_source(self.device)

    def assembly(self) -> str:
        return self.text

    @cached_property
    def _llvm_ir(self) -> str:
        with enter_context():
            return translate_module_to_llvmir(self.kernels.operation)

    @cached_property
    def text(self) -> str:
        """The assembly. Raises BuildError for a function that no library here has."""
        return self._compile_kernels(clang_codegen.ASSEMBLY).decode()

    def _compile_kernels(self, output: str) -> bytes:
        return clang_codegen.compile_ir(self._llvm_ir, self.target.triple, self.target.chip, "", output)

    def write(self, path: Path, name: str | None = None) -> list[Path]:
        """Write a file of the library, see `Library.export`."""
        check_suffix(path, name, ".hsaco", "a GPU of AMD")
        with files.folder() as folder:
            source, target = Path(folder, "kernels.o"), Path(folder, "kernels.hsaco")
            files.write_whole({source: self._compile_kernels(clang_codegen.OBJECT)})
            toolchain.run("zig", ["ld.lld", "-shared", str(source), "-o", str(target)])
            files.write_whole({path: target.read_bytes()})
        return [path]

    def functions(self, signatures: Sequence[CallSignature]) -> dict[str, Any]:
        return {s.name: _Uncalled(s, self.target.chip) for s in signatures}


class _Uncalled:
    """A function compiled for a GPU of AMD; calling it raises."""

    def __init__(self, signature: CallSignature, chip: str):
        self.signature, self._chip = signature, chip

    def __repr__(self) -> str:
        return f"<{self.signature} for {self._chip}>"

    def __call__(self, *args: Any, **options: Any) -> NoReturn:
        raise BuildError(
            f"{self.signature.name} was built for {self._chip}, whose code is experimental, and not called from here; "
            'fix: lib.export("f.hsaco") writes the code object, target="cuda-emulated" runs the kernels on the CPU'
        )
