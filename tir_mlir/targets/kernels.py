"""Stages that the back ends of GPUs share: a program to functions that launch kernels, and kernels alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict

from mlir import ir

from tir_mlir.dialect.diagnostics import LoweringError
from tir_mlir.dialect.ir import clone_module, funcs
from tir_mlir.dialect.ir.lowering_op_views import GPUModuleOp
from tir_mlir.dialect.ir.op_views import isa
from tir_mlir.passes.lower import pipeline
from tir_mlir.passes.lower.gpu.outline.kernel_memory import KernelLimits
from tir_mlir.passes.lower.to_llvm import run_named
from tir_mlir.runtime.call.signature import ProgramFunction
from tir_mlir.runtime.drivers.compiled_code import CompiledCode, FileWriter
from tir_mlir.runtime.gpu.host_program import HostProgram
from tir_mlir.runtime.library import Library
from tir_mlir.target import CUDA, GPU
from tir_mlir.targets.stages import Compilation, Passes, Stage

DEVICE = "device"
"""The value that is a module of functions that launch kernels, and `gpu.module`s with these."""
KERNELS = "kernels"
"""The value that is the kernels in the llvm dialect, without the functions that launch them."""

_AT = pipeline.GPU_PASSES.index(pipeline.THREADS_DONE) + 1
TO_THREADS, TO_KERNELS = pipeline.GPU_PASSES[:_AT], pipeline.GPU_PASSES[_AT:]


def device_options(gpu: GPU) -> Mapping[str, Mapping[str, object]]:
    """The options of passes that ask what a GPU has."""
    shared, emulated = gpu.memories["shared"], isinstance(gpu, CUDA) and gpu.emulated
    limits = KernelLimits(gpu.max_threads, shared.declared or shared.size, shared.size, gpu.chip)
    return {
        "tir-lower-gpu-kernels": asdict(limits),
        "tir-lower-ignored-annotations": {"device": "gpu"},
        "tir-lower-gpu-atomics": {"types": " ".join(sorted(gpu.atomic_types)), "chip": gpu.chip},
        "tir-lower-gpu-shuffles": {"warp": gpu.warp},
        "tir-lower-gpu-tma-copies": {"tma": gpu.has("tma"), "chip": gpu.chip, "emulated": emulated},
        "tir-lower-gpu-warpgroups": {
            "wgmma": gpu.has("wgmma") and not emulated,
            "chip": "the emulation on a CPU" if emulated else gpu.chip,
        },
        "tir-lower-gpu-dots": {"dp4a": gpu.has("dp4a")},
        "tir-lower-gpu-shared-lives": {"shared": shared.size if isinstance(gpu, CUDA) else 0},
        "tir-lower-gpu-copy-groups": {
            "asynchronous": gpu.has("cp.async"),
            "chip": gpu.chip if gpu.chip.startswith("sm_") else "",
        },
        "tir-lower-gpu-fragments": {
            "warp": gpu.warp if gpu.has("wmma") else 1,
            "features": " ".join(sorted(gpu.features)),
        },
    }


def lower_to_kernels(program: ir.Module, gpu: GPU) -> ir.Module:
    """The program with threads as loops, barriers between them. Raises LoweringError for what the GPU does not run."""
    options = device_options(gpu)
    threads = clone_module(program)
    run_named(threads, TO_THREADS, options)
    run_named(clone_module(threads), TO_KERNELS, options)
    return threads


def device_stages(gpu: GPU) -> list[Stage]:
    """From a program to `DEVICE`. Raises LoweringError for what the GPU does not run."""
    return [
        Stage("lower", Passes(lambda _: pipeline.GPU_PASSES, options=device_options(gpu)), DEVICE),
        Stage("lower", require_kernels, DEVICE),
    ]


def require_kernels(compilation: Compilation) -> ir.Module:
    """The module of `DEVICE`. Raises LoweringError if it has no kernels."""
    device: ir.Module = compilation.values[DEVICE]
    if not any(isa(op, GPUModuleOp) for op in device.body.operations):
        raise LoweringError(
            'nothing is bound to blocks or threads, which is what a GPU runs; fix: sch.bind(loop, "blockIdx.x") '
            'and sch.bind(loop, "threadIdx.x")'
        )
    return device


def extract_kernels(compilation: Compilation) -> ir.Module:
    """The contents of the `gpu.module`s of `KERNELS`, as a module of their own."""
    module: ir.Module = compilation.values[KERNELS]
    kernels = ir.Module.create(module.operation.location)
    for holder in [op.operation for op in module.body.operations if isa(op, GPUModuleOp)]:
        for op in list(holder.regions[0].blocks[0].operations):
            kernels.body.append(op)
    return kernels


def host_programs(compilation: Compilation) -> dict[str, HostProgram]:
    """What the functions of `DEVICE` launch, by name."""
    return {func.name: HostProgram(func.op) for func in funcs(compilation.values[DEVICE])}


class PrintedKernels(CompiledCode, FileWriter):
    """The code of kernels, as a library has it."""

    def source(self) -> str:
        """In C."""
        raise NotImplementedError


def kernel_library(
    compilation: Compilation,
    code: PrintedKernels,
    functions: Mapping[str, ProgramFunction],
    lowered: Callable[[], ir.Module],
) -> Library:
    """The library of kernels. code: writes files, and prints the kernels in C. lowered: makes them in the llvm
    dialect."""
    source, timing = compilation.source, compilation.timing
    return Library(source, lowered, code, functions, timing, code, compilation.origin, code.source)
