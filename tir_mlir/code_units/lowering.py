"""Lower a program to the llvm dialect, with its kernels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from mlir import ir

from tir_mlir.dialect.diagnostics import CheckedSite
from tir_mlir.dialect.ir import clone_module, llvm_intrinsics
from tir_mlir.passes.lower import lower_to_llvm
from tir_mlir.passes.lower.loops import parallel
from tir_mlir.passes.lower.registry import RECORDED_WARNINGS, warn
from tir_mlir.runtime.drivers import cpu_needs, link_kernels, vector_length
from tir_mlir.runtime.drivers.check_intrinsics import check_intrinsics
from tir_mlir.runtime.drivers.lowered_program import LoweredProgram
from tir_mlir.runtime.dump import Dump
from tir_mlir.runtime.llvm import object_code
from tir_mlir.runtime.timing import Timing
from tir_mlir.target import Target, host


@dataclass(frozen=True)
class LoweringOptions:
    """libs: paths of shared objects that the program may call. wanted: the CPU that it is for, None for this one.
    checked: check accesses that are not proved. states: what the module after each pass is written to."""

    target: str = "llvm"
    libs: Sequence[str] = ()
    wanted: Target | None = None
    checked: bool = False
    states: Dump | None = None
    timing: Timing = field(default_factory=Timing)


def lower_program(original: ir.Module, source: str, options: LoweringOptions) -> LoweredProgram:
    """Lower a program, whose text is `source`, to the llvm dialect and link kernels. The module is not modified."""
    timing, warned, cpu_target = options.timing, [], options.wanted
    sites: list[CheckedSite] | None = [] if options.checked else None
    with timing.clock("link"):
        module = clone_module(original)
        if llvm_intrinsics.CALL in source:
            check_intrinsics(module, None if cpu_target is None else code_target(cpu_target))
        kernels, elsewhere, replaced = link_kernels.resolve(module, options.libs, **_link_options(cpu_target))
    token = RECORDED_WARNINGS.set(warned)
    try:
        for text in replaced:
            warn(text)
        with timing.clock("lower"):
            if cpu_target is not None and not cpu_target.has_threads:
                parallel.serialize(module)
            scratch = _lower(module, options, sites)
    finally:
        RECORDED_WARNINGS.reset(token)
    with timing.clock("link"):
        link_kernels.define(module, kernels)
        if cpu_target is not None:
            vector_length.promise(module, cpu_target)
        if options.states is not None:
            options.states.write("link", module)
    needs, in_llvm = cpu_needs.needs_of(kernels), link_kernels.in_llvm(kernels)
    return LoweredProgram(module, bool(elsewhere), warned, scratch, sites, needs, in_llvm, "f16" in source)


def _lower(module: ir.Module, options: LoweringOptions, sites: list[CheckedSite] | None) -> int:
    cpu = options.wanted or host()
    follow = None if options.states is None else options.states.write
    return lower_to_llvm(
        module,
        target=options.target,
        timing=options.timing.passes,
        registers=(cpu.vector_bits, cpu.registers),
        sites=sites,
        follow=follow,
    )


def _link_options(cpu_target: Target | None) -> dict[str, Any]:
    if cpu_target is None:
        return {}
    return {
        "has": cpu_target.given,
        "elsewhere": not cpu_target.runs_here,
        "small_pointers": cpu_target.arch == "wasm32",
    }


def code_target(cpu_target: Target) -> object_code.LLVMTarget:
    """A CPU in LLVM's words."""
    return object_code.LLVMTarget(
        cpu_target.triple.encode(), cpu_target.cpu.encode(), cpu_target.llvm_features.encode()
    )
