"""Stages from a program to the llvm dialect, with its kernels."""

from __future__ import annotations

from dataclasses import dataclass, field

from mlir import ir

from tir_mlir.dialect.diagnostics import CheckedSite
from tir_mlir.dialect.ir import clone_module, llvm_intrinsics
from tir_mlir.passes.lower import lower_to_llvm
from tir_mlir.passes.lower.loops import parallel
from tir_mlir.passes.lower.registry import warn
from tir_mlir.runtime.drivers import cpu_needs, link_kernels, vector_length
from tir_mlir.runtime.drivers.check_intrinsics import check_intrinsics
from tir_mlir.runtime.drivers.compiled_code import LoweredProgram
from tir_mlir.runtime.llvm import object_code
from tir_mlir.target import Target, host
from tir_mlir.target.work_cost import least_cycles
from tir_mlir.targets.stages import Compilation, Stage

LOWERED = "lowered"
"""The value that is a `LoweredProgram`."""
_LINKED = "linked"


@dataclass
class _Linked:
    """A program whose calls are resolved. module: changed by the stages that follow. kernels: to be defined in it.
    calls_out: it calls code that is not compiled with it."""

    module: ir.Module
    kernels: dict[str, link_kernels.LinkedKernel]
    calls_out: bool
    scratch: int = 0
    sites: list[CheckedSite] | None = None
    warned: list[str] = field(default_factory=list)


def lowering_stages() -> list[Stage]:
    """From a program to `LOWERED`."""
    return [
        Stage("link", _resolve_kernels, _LINKED),
        Stage("lower", _lower, _LINKED),
        Stage("link", _define_kernels, LOWERED),
    ]


def llvm_target(cpu: Target) -> object_code.LLVMTarget | None:
    """A CPU in LLVM's words; None for this machine."""
    return named_cpu(cpu) if cpu.triple else None


def named_cpu(cpu: Target) -> object_code.LLVMTarget:
    """A CPU with a triple in LLVM's words."""
    return object_code.LLVMTarget(cpu.triple.encode(), cpu.cpu.encode(), cpu.llvm_features.encode())


def _resolve_kernels(compilation: Compilation) -> _Linked:
    options, cpu = compilation.options, compilation.options.compiled_for.as_cpu()
    module = clone_module(compilation.program)
    if llvm_intrinsics.CALL in compilation.source:
        check_intrinsics(module, llvm_target(cpu))
    kernels, elsewhere, replaced = link_kernels.resolve(
        module,
        options.libs,
        has=cpu.given if cpu.triple else None,
        elsewhere=not cpu.runs_here,
        small_pointers=cpu.arch == "wasm32" and cpu.triple != "",
    )
    for text in replaced:
        warn(text)
    return _Linked(module, kernels, bool(elsewhere), sites=[] if options.checked else None)


def _lower(compilation: Compilation) -> _Linked:
    linked: _Linked = compilation.values[_LINKED]
    cpu = compilation.options.compiled_for.as_cpu()
    registers = cpu if cpu.triple else host()
    if not cpu.has_threads:
        parallel.serialize(linked.module)
    linked.scratch = lower_to_llvm(
        linked.module,
        timing=compilation.timing.passes,
        registers=(registers.vector_bits, registers.registers),
        sites=linked.sites,
        follow=compilation.follow,
        static_memory=cpu.is_bare,
        thread_work=round(least_cycles(2)),
        rounds_in_casts=registers.arch == "x86_64",
    )
    return linked


def _define_kernels(compilation: Compilation) -> LoweredProgram:
    linked: _Linked = compilation.values.pop(_LINKED)
    module, cpu = linked.module, compilation.options.compiled_for.as_cpu()
    link_kernels.define(module, linked.kernels)
    if cpu.triple:
        vector_length.promise(module, cpu)
    if compilation.follow is not None:
        compilation.follow("link", module)
    return LoweredProgram(
        module,
        calls_out=linked.calls_out,
        warned=list(compilation.warned),
        scratch=linked.scratch,
        sites=linked.sites,
        needs=cpu_needs.needs_of(linked.kernels),
        kernels=link_kernels.in_llvm(linked.kernels),
        low_precision="f16" in compilation.source,
    )
