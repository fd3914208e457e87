"""`build` for a GPU: kernels of the bound nests, and their PTX."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from mlir import ir

from tir_mlir.dialect.ir import clone_module, enter_context, funcs
from tir_mlir.passes.lower.gpu import emulation
from tir_mlir.passes.lower.gpu.outline.limits import KernelLimits
from tir_mlir.passes.lower.gpu.to_device import Follow, lower_to_device, lower_to_nvvm, lower_to_rocdl, lower_to_spirv
from tir_mlir.passes.lower.registry import RECORDED_WARNINGS, warn
from tir_mlir.runtime.call.signature import CallSignature
from tir_mlir.runtime.drivers.device_driver import KernelCode
from tir_mlir.runtime.drivers.opencl import CHIP
from tir_mlir.runtime.drivers.opencl_code import OpenclCode
from tir_mlir.runtime.drivers.ptx_code import PtxCode
from tir_mlir.runtime.drivers.rocm_code import RocmCode
from tir_mlir.runtime.gpu import opencl_function
from tir_mlir.runtime.gpu.function import functions as device_functions
from tir_mlir.runtime.gpu.host_program import HostProgram
from tir_mlir.runtime.gpu.source import opencl_c, source_of
from tir_mlir.runtime.library import Library
from tir_mlir.runtime.scheduled_programs import AS_GIVEN
from tir_mlir.runtime.timing import Timing
from tir_mlir.target import CUDA, GPU, ROCM, OpenCL

_ENTRY, _DEPOT = re.compile(r"\.entry (\w+)\("), re.compile(r"\.local .*__local_depot\d+\[(\d+)\]")


def _limits_of(target: GPU) -> KernelLimits:
    """What a target can launch, as the lowering takes it."""
    declared = target.shared_static if isinstance(target, CUDA) else target.shared
    return KernelLimits(target.max_threads, declared, target.shared, target.chip)


@dataclass(frozen=True)
class Emulation:
    """A program for a GPU as one for a CPU, `program`, and its kernels as a GPU would get them, `device`."""

    program: ir.Module
    device: ir.Module

    def source(self) -> str:
        """The kernels in CUDA C."""
        with enter_context():
            return source_of(self.device)


def emulation_of(original: ir.Module, target: CUDA, timing: Timing, follow: Follow | None) -> Emulation:
    """Lower a module, which is not changed, to loops that run its kernels on a CPU. Raises LoweringError for what the
    target cannot run."""
    with_barriers: list[ir.Module] = []

    def keep(name: str, module: ir.Module) -> None:
        if follow is not None:
            follow(name, module)
        if name == "tir-lower-gpu-join-blocks":
            with_barriers.append(clone_module(module))

    device = clone_module(original)
    lower_to_device(device, _limits_of(target), warp=target.warp, timing=timing.passes, follow=keep)
    (program,) = with_barriers
    emulation.run(program)
    if follow is not None:
        follow("tir-lower-gpu-emulation", program)
    return Emulation(program, device)


def gpu_library(
    original: ir.Module,
    signatures: Sequence[CallSignature],
    target: CUDA,
    timing: Timing,
    follow: Follow | None,
    origin: str = AS_GIVEN,
) -> Library:
    """Build a module, which is not changed, for a GPU. Raises LoweringError for what it cannot run."""
    token = RECORDED_WARNINGS.set(warned := [])
    try:
        with timing.clock("lower"):
            device = clone_module(original)
            lower_to_device(device, _limits_of(target), warp=target.warp, timing=timing.passes, follow=follow)
            kernels = lower_to_nvvm(device, timing=timing.passes, follow=follow)
    finally:
        RECORDED_WARNINGS.reset(token)
    code = PtxCode(device, kernels, target, timing.clock, source_of)
    if not any("remains in memory" in text for text in warned):
        _warn_of_local_memory(code.ptx)
    programs = {f.name: HostProgram(f.op) for f in funcs(device)}
    functions = device_functions(signatures, programs, KernelCode(code.ptx, target.chip))
    return Library(str(original), lambda: kernels, code, functions, timing, code, origin, code.source)


def _warn_of_local_memory(ptx: str) -> None:
    """Warn of kernels whose local buffers LLVM leaves in memory, for a reason that the lowering does not know."""
    kernel = ""
    for line in ptx.splitlines():
        if (entry := _ENTRY.search(line)) is not None:
            kernel = entry[1]
        elif (depot := _DEPOT.search(line)) is not None:
            warn(f"kernel {kernel} keeps {depot[1]} bytes of local buffers a thread in memory, not in registers")


def opencl_library(
    original: ir.Module,
    signatures: Sequence[CallSignature],
    target: OpenCL,
    timing: Timing,
    follow: Follow | None,
    origin: str = AS_GIVEN,
) -> Library:
    """Build a module, which is not changed, for OpenCL. Raises LoweringError for what it cannot run."""
    with timing.clock("lower"):
        device = clone_module(original)
        lower_to_device(device, _limits_of(target), warp=target.warp, timing=timing.passes, follow=follow)
        code = OpenclCode(
            target,
            lambda: source_of(device, opencl_c(target.warp)),
            lambda: lower_to_spirv(device, target.warp, timing=timing.passes, follow=follow),
        )
        kernels = KernelCode("", CHIP, code.spirv) if target.spirv else KernelCode(code.text, CHIP)
    programs = {f.name: HostProgram(f.op) for f in funcs(device)}
    functions = opencl_function.functions(signatures, programs, kernels)
    return Library(str(original), lambda: code.kernels, code, functions, timing, code, origin, code.source)


def rocm_library(
    original: ir.Module,
    signatures: Sequence[CallSignature],
    target: ROCM,
    timing: Timing,
    follow: Follow | None,
    origin: str = AS_GIVEN,
) -> Library:
    """Build a module, which is not changed, for a GPU of AMD. Raises LoweringError for what it cannot run."""
    with timing.clock("lower"):
        device = clone_module(original)
        lower_to_device(device, _limits_of(target), warp=target.warp, timing=timing.passes, follow=follow)
        kernels = lower_to_rocdl(device, target.chip, timing=timing.passes, follow=follow)
    code = RocmCode(device, kernels, target, source_of)
    code.text  # noqa: B018  errors come from `build`
    return Library(str(original), lambda: kernels, code, code.functions(signatures), timing, code, origin, code.source)
