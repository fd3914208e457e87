"""The back end of NVIDIA's GPUs: kernels to PTX, which the driver of the machine with the GPU compiles."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from mlir import ir

from tir_mlir.dialect.ir import enter_context
from tir_mlir.passes.lower import pipeline
from tir_mlir.passes.lower.gpu.outline.index_width import index_bits
from tir_mlir.passes.lower.registry import warn
from tir_mlir.passes.lower.to_llvm import run_upstream
from tir_mlir.runtime.drivers.device_driver import KernelCode
from tir_mlir.runtime.drivers.exporting import check_suffix
from tir_mlir.runtime.gpu.function import functions
from tir_mlir.runtime.gpu.source import source_of
from tir_mlir.runtime.library import Library
from tir_mlir.runtime.llvm.object_code import LLVMTarget, assembly_of
from tir_mlir.runtime.tools import files
from tir_mlir.target import CUDA
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

PTX = "ptx"
LLVM_PASSES = b"default<O3>"
"""LLVM's pipeline. It gets the target: without it, threads of a warp may part before an instruction that needs all."""
LINE_INFO = "ensure-debug-info-scope-on-llvm-func{emission-kind=DebugDirectivesOnly}"
"""PTX gets the lines of the program, as `.loc`."""
_ENTRY, _DEPOT = re.compile(r"\.entry (\w+)\("), re.compile(r"\.local .*__local_depot\d+\[(\d+)\]")


def nvvm_passes(bits: int, approximations: tuple[str, ...] = ("tir-lower-gpu-approximations",)) -> tuple[str, ...]:
    """From kernels to the llvm and nvvm dialects, in order. bits: the width of an index, 32 or 64. approximations: the
    passes that make instructions of NVIDIA's GPUs of functions that may be approximate."""
    options = f"use-bare-ptr-memref-call-conv=true index-bitwidth={bits}"
    passes = pipeline.kernel_passes(
        f"convert-gpu-to-nvvm{{{options}}}",
        approximations=approximations,
        own_math=("tir-lower-gpu-math",),
    )
    own = ("tir-lower-gpu-cp-async", "tir-lower-gpu-ldmatrix", "tir-lower-gpu-tensor-maps")
    return (*passes, *own, "gpu.module(convert-nvvm-to-llvm)")  # the last of instructions without an intrinsic: wgmma


def stages(compilation: Compilation) -> list[Stage]:
    return [
        *device_stages(_gpu(compilation)),
        Stage("lower", Passes(lambda module: nvvm_passes(index_bits(module)), DEVICE), KERNELS),
        Stage("lower", _extract_with_lines, KERNELS),
        Stage("", _compile_ptx, PTX),
    ]


def _gpu(compilation: Compilation) -> CUDA:
    return cast(CUDA, compilation.options.compiled_for)


def _extract_with_lines(compilation: Compilation) -> ir.Module:
    kernels = extract_kernels(compilation)
    run_upstream(kernels, (LINE_INFO,))
    return kernels


def _compile_ptx(compilation: Compilation) -> str:
    gpu = _gpu(compilation)
    code = LLVMTarget(gpu.triple.encode(), gpu.chip.encode(), gpu.llvm_features.encode())
    ptx = assembly_of(compilation.values[KERNELS], code, compilation.timing.clock, LLVM_PASSES)
    if not any("remains in memory" in text for text in compilation.warned):
        warn_of_local_memory(ptx)
    return ptx


def warn_of_local_memory(ptx: str) -> None:
    """Warn of kernels whose local buffers LLVM leaves in memory, for a reason that the lowering does not know."""
    kernel = ""
    for line in ptx.splitlines():
        if (entry := _ENTRY.search(line)) is not None:
            kernel = entry[1]
        elif (depot := _DEPOT.search(line)) is not None:
            warn(f"kernel {kernel} keeps {depot[1]} bytes of local buffers a thread in memory, not in registers")


def load(compilation: Compilation) -> Library:
    values = compilation.values
    code = PtxCode(values[DEVICE], values[PTX])
    kernels = KernelCode(code.ptx, _gpu(compilation).chip)
    called = functions(compilation.signatures, host_programs(compilation), kernels)
    return kernel_library(compilation, code, called, lambda: values[KERNELS])


@dataclass
class PtxCode(PrintedKernels):
    """The kernels of a library. device: the module with the functions that launch them."""

    device: ir.Module
    ptx: str
    is_ptx = True

    def assembly(self) -> str:
        """The PTX."""
        return self.ptx

    def source(self) -> str:
        """The kernels in CUDA C."""
        with enter_context():
            return source_of(self.device)

    def write(self, path: Path, name: str | None = None) -> list[Path]:
        """Write a file of the library, see `Library.export`."""
        check_suffix(path, name, ".ptx", "code of a GPU")
        files.write_whole({path: self.ptx.encode()})
        return [path]


BACK_END = BackEnd(stages=stages, load=load)
