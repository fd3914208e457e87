"""The back end of AMD's GPUs: kernels to a code object, by the clang and the linker of the C compiler's wheel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NoReturn, cast

from mlir import ir
from mlir.dialects.llvm import translate_module_to_llvmir

from tir_mlir.dialect.diagnostics import BuildError
from tir_mlir.dialect.ir import enter_context
from tir_mlir.passes.lower import pipeline
from tir_mlir.passes.lower.gpu.outline.index_width import index_bits
from tir_mlir.runtime.call.signature import CallSignature, ProgramFunction
from tir_mlir.runtime.drivers.exporting import check_suffix
from tir_mlir.runtime.gpu.source import source_of
from tir_mlir.runtime.library import Library
from tir_mlir.runtime.tools import clang_codegen, files, toolchain
from tir_mlir.target import ROCM
from tir_mlir.targets.kernels import DEVICE, KERNELS, PrintedKernels, device_stages, extract_kernels, kernel_library
from tir_mlir.targets.stages import BackEnd, Compilation, Passes, Stage

CODE = "code"


def rocdl_passes(bits: int, chip: str) -> tuple[str, ...]:
    """From kernels to the llvm and rocdl dialects. bits: the width of an index. chip: as gfx942."""
    options = f"chipset={chip} use-bare-ptr-memref-call-conv=true index-bitwidth={bits}"
    return pipeline.kernel_passes(f"convert-gpu-to-rocdl{{{options}}}")


def stages(compilation: Compilation) -> list[Stage]:
    gpu = _gpu(compilation)
    return [
        *device_stages(gpu),
        Stage("lower", Passes(lambda module: rocdl_passes(index_bits(module), gpu.chip), DEVICE), KERNELS),
        Stage("lower", extract_kernels, KERNELS),
        Stage("compile", _compile_kernels, CODE),
    ]


def _gpu(compilation: Compilation) -> ROCM:
    return cast(ROCM, compilation.options.compiled_for)


def _compile_kernels(compilation: Compilation) -> RocmCode:
    code = RocmCode(compilation.values[DEVICE], compilation.values[KERNELS], _gpu(compilation))
    code.text  # noqa: B018  errors come from `build`
    return code


def load(compilation: Compilation) -> Library:
    code: RocmCode = compilation.values[CODE]
    return kernel_library(compilation, code, code.functions(compilation.signatures), lambda: code.kernels)


@dataclass
class RocmCode(PrintedKernels):
    """The kernels of a library.

    device: the module with the functions that launch them.
    kernels: the kernels in the llvm dialect.
    """

    device: ir.Module
    kernels: ir.Module
    target: ROCM

    def source(self) -> str:
        """The kernels in CUDA C, which HIP takes."""
        with enter_context():
            return source_of(self.device)

    def assembly(self) -> str:
        return self.text

    @cached_property
    def _llvm_ir(self) -> str:
        with enter_context():
            return translate_module_to_llvmir(self.kernels.operation)

    @cached_property
    def text(self) -> str:
        """The assembly. Raises BuildError for a function that no library here has."""
        return self._compile(clang_codegen.ASSEMBLY).decode()

    def _compile(self, output: str) -> bytes:
        return clang_codegen.compile_ir(self._llvm_ir, self.target.triple, self.target.chip, "", output)

    def write(self, path: Path, name: str | None = None) -> list[Path]:
        """Write a file of the library, see `Library.export`."""
        check_suffix(path, name, ".hsaco", "a GPU of AMD")
        with files.folder() as folder:
            source, target = Path(folder, "kernels.o"), Path(folder, "kernels.hsaco")
            files.write_whole({source: self._compile(clang_codegen.OBJECT)})
            toolchain.run("zig", ["ld.lld", "-shared", str(source), "-o", str(target)])
            files.write_whole({path: target.read_bytes()})
        return [path]

    def functions(self, signatures: Sequence[CallSignature]) -> dict[str, ProgramFunction]:
        return {s.name: _Uncalled(s, self.target.chip) for s in signatures}


class _Uncalled:
    """A function compiled for a GPU of AMD; calling it raises."""

    def __init__(self, signature: CallSignature, chip: str):
        self.signature, self._chip = signature, chip

    def __repr__(self) -> str:
        return f"<{self.signature} for {self._chip}>"

    def __call__(self, *args: object, **options: object) -> NoReturn:
        raise BuildError(
            f"{self.signature.name} was built for {self._chip}, whose code is experimental, and not called from here; "
            'fix: lib.export("f.hsaco") writes the code object, target="cuda-emulated" runs the kernels on the CPU'
        )


BACK_END = BackEnd(stages=stages, load=load)
