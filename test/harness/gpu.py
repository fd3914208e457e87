"""Runs of kernels on the PTX machine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from mlir import ir

from tir_mlir import Schedule, ptx
from tir_mlir.dialect.ir import Buffer, attrs, clone_module, entered
from tir_mlir.passes.lower.gpu.device import DeviceProgram, device_programs
from tir_mlir.passes.lower.gpu.limits import Limits
from tir_mlir.passes.lower.gpu.to_device import lower_to_device, lower_to_nvvm
from tir_mlir.runtime.drivers.ptx_code import PtxCode
from tir_mlir.runtime.timing import Timing
from tir_mlir.target import CUDA


def device_of(sch: Schedule) -> tuple[ir.Module, str]:
    """The host functions of a schedule, and the PTX of its kernels for sm_80."""
    with entered():
        device = clone_module(sch.mod.mlir)
        lower_to_device(device, Limits(chip="sm_80"))
        kernels = lower_to_nvvm(device)
        return device, PtxCode(device, kernels, CUDA("sm_80"), Timing().clock).ptx


def on_machine(sch: Schedule, arrays: Sequence[np.ndarray]) -> list[ptx.Report]:
    """Build a schedule for a GPU and run its launches on the machine; arrays are changed in place."""
    device, text = device_of(sch)
    with entered():
        (program,) = device_programs(device)
        return run_program(program, ptx.parse(text), arrays)


def run_program(program: DeviceProgram, module: ptx.Module, arrays: Sequence[np.ndarray]) -> list[ptx.Report]:
    """The launches of a host function, in order."""
    values: dict[ir.Value, object] = dict(zip(program.parameters, arrays, strict=True))
    unwritten = set()
    for buffer in program.buffers:
        shape = [n if n is not None else _number(v, values) for n, v in zip(buffer.shape, _sizes(buffer), strict=True)]
        values[buffer.value] = np.zeros(shape, buffer.dtype)
        unwritten.add(buffer.value)
    reports = []
    for launch in program.launches:
        grid = [_number(v, values) for v in launch.grid]
        if 0 in grid:
            continue
        args = [values[v] if v in values else _number(v, values) for v in launch.arguments]
        fresh = [n for n, v in enumerate(launch.arguments) if v in unwritten]
        reports.append(
            ptx.launch(module, launch.kernel, grid, launch.block, args, launch.shared_bytes, unwritten=fresh)
        )
        unwritten -= set(launch.arguments)
    return reports


def _sizes(buffer: Buffer) -> list[ir.Value | None]:
    dynamic = iter(list(buffer.op.operands) if buffer.op is not None else [])
    return [None if n is not None else next(dynamic) for n in buffer.shape]


def _number(value: ir.Value | None, values: Mapping[ir.Value, object]) -> int:
    """The number that a value of a host function has."""
    assert value is not None
    if value in values:
        return int(values[value])  # type: ignore[call-overload]
    op = value.owner.operation  # type: ignore[union-attr]
    if op.name == "arith.constant":
        return ir.IntegerAttr(op.attributes["value"]).value
    if op.name == "memref.dim":
        return values[op.operands[0]].shape[_number(op.operands[1], values)]  # type: ignore[attr-defined]
    numbers = [_number(v, values) for v in op.operands]
    if op.name == "affine.apply":
        return _evaluated(attrs.affine_map(op, "map"), numbers)
    if op.name.startswith("arith.index_cast"):
        return numbers[0]
    kinds = {"addi": int.__add__, "muli": int.__mul__, "subi": int.__sub__, "floordivsi": int.__floordiv__}
    kinds |= {"ceildivsi": lambda a, b: -(-a // b), "maxsi": max, "minsi": min}
    return kinds[op.name.removeprefix("arith.")](*numbers)


def _evaluated(map_: ir.AffineMap, numbers: Sequence[int]) -> int:
    def at(expr: ir.AffineExpr) -> int:
        expr = expr.maybe_downcast()
        if isinstance(expr, ir.AffineConstantExpr):
            return expr.value
        if isinstance(expr, ir.AffineDimExpr):
            return numbers[expr.position]
        if isinstance(expr, ir.AffineSymbolExpr):
            return numbers[map_.n_dims + expr.position]
        a, b = at(expr.lhs), at(expr.rhs)
        if isinstance(expr, ir.AffineAddExpr):
            return a + b
        if isinstance(expr, ir.AffineMulExpr):
            return a * b
        if isinstance(expr, ir.AffineModExpr):
            return a % b
        return a // b if isinstance(expr, ir.AffineFloorDivExpr) else -(-a // b)

    return at(map_.results[0])
