"""Programs for GPUs run on the PTX machine: built, launched in order, arrays changed in place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tir_mlir import build, ptx
from tir_mlir.dialect.ir import Func, entered, funcs
from tir_mlir.runtime.gpu.host_program import HostProgram, Memory, Scalar


def run(program: Any, *arrays: Any, target: str = "sm_80") -> list[ptx.Report]:
    """Build a program with one function and run it. Returns the report of each kernel."""
    lib = build(program, target=target)
    device = lib._driver.device
    with entered():
        (func,) = funcs(device)
        call = HostProgram(func.op).prepare([_described(a) for a in arrays])
    module = ptx.parse(lib.assembly)
    temporaries = [np.zeros(size, np.uint8) for size in call.temporaries]
    reports = []
    for prepared in call.launches:
        if not prepared.blocks:
            continue
        args = [_argument(a, arrays, temporaries) for a in prepared.arguments]
        launch = prepared.launch
        reports.append(ptx.launch(module, launch.kernel, launch.grid, launch.block, args, launch.shared_bytes))
    return reports


def _described(value: Any) -> Any:
    return value.shape if isinstance(value, np.ndarray) else value


def _argument(argument: Any, arrays: Sequence[Any], temporaries: Sequence[np.ndarray]) -> Any:
    if isinstance(argument, Memory):
        return temporaries[argument.number] if argument.is_temporary else arrays[argument.number]
    return arrays[argument.number] if isinstance(argument, Scalar) else argument


__all__ = ["Func", "run"]
