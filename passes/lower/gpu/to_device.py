"""Lower a module from TensorIR to kernels, and kernels to the llvm and nvvm dialects."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any

from mlir import ir

from tir_mlir.dialect.diagnostics import LoweringError
from tir_mlir.dialect.ir import clone_module, enter_context
from tir_mlir.passes.lower import pipeline
from tir_mlir.passes.lower.gpu.outline.index_width import index_bits
from tir_mlir.passes.lower.gpu.outline.limits import KernelLimits
from tir_mlir.passes.lower.registry import LOWERINGS
from tir_mlir.passes.lower.to_llvm import PassTimer, run_upstream

Follow = Callable[[str, ir.Module], None]


def lower_to_device(
    module: ir.Module,
    limits: KernelLimits,
    *,
    warp: int = 32,
    timing: dict[str, float] | None = None,
    follow: Follow | None = None,
) -> None:
    """Lower a module in place to functions that launch kernels, and `gpu.module`s with these.

    warp: the threads that shuffle values, 1 without shuffles. `timing` collects seconds by pass; `follow(name, module)`
    is called after each. Raises LoweringError for what a GPU with these limits does not run.
    """
    clock = PassTimer(timing, follow, module)
    options_of: dict[str, dict[str, Any]] = {"tir-lower-gpu-kernels": asdict(limits)}
    options_of["tir-lower-ignored-annotations"] = {"device": "gpu"}
    options_of |= {name: {"warp": warp} for name in ("tir-lower-gpu-shuffles", "tir-lower-gpu-fragments")}
    with enter_context():
        for name in pipeline.GPU_PASSES:
            options = options_of.get(name, {})
            clock.run(name, lambda name=name, options=options: LOWERINGS[name].run(module, **options))
        if not any(op.operation.name == "gpu.module" for op in module.body.operations):
            raise LoweringError(
                'nothing is bound to blocks or threads, which is what a GPU runs; fix: sch.bind(loop, "blockIdx.x") '
                'and sch.bind(loop, "threadIdx.x")'
            )


def lower_to_nvvm(
    device: ir.Module, *, timing: dict[str, float] | None = None, follow: Follow | None = None
) -> ir.Module:
    """The kernels of a module of `lower_to_device`, in the llvm and nvvm dialects. That module is not changed."""
    with enter_context():
        kernels = _lower_kernels(device, pipeline.NVVM_PASSES, timing, follow)
        run_upstream(kernels, (pipeline.LINE_INFO,))
        return kernels


def lower_to_spirv(
    device: ir.Module, warp: int, *, timing: dict[str, float] | None = None, follow: Follow | None = None
) -> ir.Module:
    """The same in the llvm dialect, with the functions of SPIR-V. warp: as of `lower_to_device`."""
    with enter_context():
        kernels = _lower_kernels(device, pipeline.SPIRV_PASSES[:-1], timing, follow)
        clock = PassTimer(timing, follow, kernels)
        clock.run(pipeline.TO_SPIRV, lambda: LOWERINGS[pipeline.TO_SPIRV].run(kernels, warp=warp))
        return kernels


def lower_to_rocdl(
    device: ir.Module, chip: str, *, timing: dict[str, float] | None = None, follow: Follow | None = None
) -> ir.Module:
    """The same in the llvm and rocdl dialects, for a GPU of AMD."""
    with enter_context():
        passes = [name.replace("CHIP", chip) for name in pipeline.ROCDL_PASSES]
        return _lower_kernels(device, passes, timing, follow)


def _lower_kernels(
    device: ir.Module, passes: Sequence[str], timing: dict[str, float] | None, follow: Follow | None
) -> ir.Module:
    module = clone_module(device)
    clock = PassTimer(timing, follow, module)
    bits = index_bits(device)
    for name in passes:
        if name in LOWERINGS:
            clock.run(name, lambda name=name: LOWERINGS[name].run(module))
        else:
            clock.run(
                f"upstream:{_short(name)}",
                lambda name=name: run_upstream(module, (name.replace("BITS", str(bits)),)),
            )
    return _kernels_alone(module)


def _short(passes: str) -> str:
    """The last conversion of a run of upstream passes, or the last pass."""
    names = re.findall(r"[a-z][a-z-]+(?=[,{)]|$)", passes)
    return next((name for name in reversed(names) if name.startswith("convert-")), names[-1])


def _kernels_alone(module: ir.Module) -> ir.Module:
    """The contents of the `gpu.module`s, as a module of their own."""
    kernels = ir.Module.create(module.operation.location)
    for holder in [op.operation for op in module.body.operations if op.operation.name == "gpu.module"]:
        for op in list(holder.regions[0].blocks[0].operations):
            kernels.body.append(op)
    return kernels
