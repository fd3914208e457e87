"""Programs for GPUs run on the PTX machine: built, launched in order, arrays changed in place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from mlir import ir

from tir_mlir import ptx
from tir_mlir.dialect.ir import clone_module, entered, funcs, held_module
from tir_mlir.gpu_build import limits_of
from tir_mlir.passes.lower.gpu.to_device import Follow, lower_to_device, lower_to_nvvm
from tir_mlir.runtime.drivers.ptx_code import PtxCode
from tir_mlir.runtime.gpu.host_program import HostProgram, Memory, PreparedCall, Scalar
from tir_mlir.runtime.gpu.source import source_of
from tir_mlir.runtime.timing import Timing
from tir_mlir.target import CUDA


def device_of(program: Any, chip: str = "sm_80", follow: Follow | None = None) -> tuple[ir.Module, str]:
    """The host functions of a schedule or program, and the PTX of its kernels. `follow(name, module)` is called after
    each pass."""
    target = CUDA(chip)
    with entered():
        module = held_module(program)
        assert module is not None
        device = clone_module(module)
        lower_to_device(device, limits_of(target), follow=follow)
        return device, PtxCode(device, lower_to_nvvm(device), target, Timing().clock, source_of).ptx


def on_machine(
    program: Any, arrays: Sequence[Any], chip: str = "sm_80", follow: Follow | None = None
) -> list[ptx.Report]:
    """Build a program with one function for a GPU and run its launches on the machine. `arrays`: its arguments; arrays
    are changed in place. Returns the report of each kernel."""
    device, text = device_of(program, chip, follow)
    with entered():
        (func,) = funcs(device)
        described = [_described(a, v.type) for a, v in zip(arrays, func.args, strict=True)]
        call = HostProgram(func.op).prepare(described)
    return run_call(call, ptx.parse(text), arrays)


def _described(value: Any, type_: ir.Type) -> Any:
    """An argument as a call is prepared for it: the shape of an array, a size, None for another number."""
    if isinstance(value, np.ndarray):
        return value.shape
    return value if isinstance(type_, ir.IndexType) else None


def run_call(call: PreparedCall, module: ptx.Module, arrays: Sequence[Any]) -> list[ptx.Report]:
    """The launches of a call, in order."""
    temporaries = [np.zeros(size, np.uint8) for size in call.temporaries]
    unwritten, reports = set(range(len(temporaries))), []
    for prepared in call.launches:
        if not prepared.blocks:
            continue
        launch = prepared.launch
        used = [a.number if isinstance(a, Memory) and a.is_temporary else None for a in prepared.arguments]
        args = [_argument(a, arrays, temporaries) for a in prepared.arguments]
        fresh = [place for place, number in enumerate(used) if number in unwritten]
        reports.append(
            ptx.launch(module, launch.kernel, launch.grid, launch.block, args, launch.shared_bytes, unwritten=fresh)
        )
        unwritten.difference_update(used)
    return reports


def _argument(argument: Any, arrays: Sequence[Any], temporaries: Sequence[np.ndarray]) -> Any:
    if isinstance(argument, Memory):
        return (temporaries if argument.is_temporary else arrays)[argument.number]
    return arrays[argument.number] if isinstance(argument, Scalar) else argument
