"""The kernels of a lowered module, and how its functions launch them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mlir import ir

from tir_mlir.dialect.ir import Buffer, Func, attrs, funcs, walk
from tir_mlir.dialect.ir.op_traits import VIEWS


@dataclass(frozen=True)
class Launch:
    """A launch of a kernel by a function. grid, block: blocks and threads along x, y, z; shared_bytes: dynamic shared
    memory. arguments: buffers and sizes, in order. Sizes are values of the function, which `index_at` evaluates."""

    kernel: str
    grid: tuple[ir.Value, ir.Value, ir.Value]
    block: tuple[int, int, int]
    shared_bytes: int
    arguments: tuple[ir.Value, ...]


@dataclass(frozen=True)
class DeviceProgram:
    """A function of a module that `lower_to_device` made, with its launches in order. buffers: those that it allocates
    in the memory of the GPU for each call."""

    function: str
    parameters: tuple[ir.Value, ...]
    buffers: tuple[Buffer, ...]
    launches: tuple[Launch, ...]


def device_programs(module: ir.Module) -> list[DeviceProgram]:
    """The functions of a module with kernels. The module has to outlive them."""
    return [_program(func) for func in funcs(module)]


def _program(func: Func) -> DeviceProgram:
    launches = [_launch(op) for op in func.body_ops() if op.name == "gpu.launch_func"]
    return DeviceProgram(func.name, tuple(func.args), tuple(func.allocs), tuple(launches))


def _launch(op: ir.Operation) -> Launch:
    segments = attrs.integers(op, "operandSegmentSizes")
    operands = list(op.operands)
    starts = [sum(segments[:n]) for n in range(len(segments))]
    groups = [operands[start : start + size] for start, size in zip(starts, segments, strict=True)]
    grid = tuple(value for group in groups[1:4] for value in group)
    block = tuple(_constant(value) for group in groups[4:7] for value in group)
    shared = _constant(groups[10][0]) if groups[10] else 0
    kernel = list(ir.SymbolRefAttr(op.attributes["kernel"]).value)[-1]
    return Launch(kernel, grid, block, shared, tuple(map(root_of, groups[11])))  # type: ignore[arg-type]


def root_of(value: ir.Value) -> ir.Value:
    """The parameter or allocation behind a buffer; other values as they are."""
    while not isinstance(value.owner, ir.Block) and value.owner.name in VIEWS:
        value = value.owner.operands[0]
    return value


def _constant(value: ir.Value) -> int:
    return ir.IntegerAttr(value.owner.attributes["value"]).value  # type: ignore[union-attr]


def kernels(module: ir.Module) -> Sequence[ir.Operation]:
    """The kernels of a module, in order."""
    return [op for op in walk.ops(module.operation) if op.name == "gpu.func"]
