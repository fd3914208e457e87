"""The sizes of a program in terms of those of its caller: what the shapes of the arguments of a call bind."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod

from mlir import ir

from tir_mlir.dialect.diagnostics import NotAffine
from tir_mlir.dialect.ir import Buffer, Func, Index, read_value, sizes_of
from tir_mlir.dialect.ir.op_views import DimOp, FloorDivOp, MemrefCastOp, MulIOp, defining_op, isa


@dataclass(frozen=True)
class PassedDim:
    """One extent of a buffer that a call passes: what the parameter declares, in the caller's sizes, and what it is.

    wanted: None if the call binds no value to a variable in it."""

    parameter: str
    axis: int
    wanted: Index | None
    given: Index


def bound_sizes(call: ir.Operation, callee: Func) -> dict[ir.Value, Index]:
    """The value of each shape variable of a callee at a call, as an expression of the caller's sizes and loops.

    f(A: (n, 16)) called with A: (2 * m, 16)   -->   {n: 2 * m}
    """
    passed, values = dict(zip(callee.args, call.operands, strict=True)), {}
    for arg, value in passed.items():
        if isinstance(arg.type, ir.IndexType):
            values[arg] = read_value(value)
    for op in callee.body_ops():
        if not sizes_of(op):
            continue
        index = _value(op, passed, values)
        if index is not None:
            values[op.results[0]] = index
    return values


def _value(op: ir.Operation, passed: Mapping[ir.Value, ir.Value], values: Mapping[ir.Value, Index]) -> Index | None:
    """What an op that defines a shape variable computes at a call."""
    if isa(op, DimOp):
        return _extent(op, passed)
    if isa(op, FloorDivOp):
        top, divisor = (_operand(v, passed, values) for v in op.operands)
        number = None if divisor is None else divisor.as_constant()
        return None if top is None or not number or number < 0 else top // number
    if isa(op, MulIOp):
        return _times([_operand(v, passed, values) for v in op.operands])
    return None


def _times(factors: list[Index | None]) -> Index | None:
    try:
        return None if None in factors else prod(factors, start=Index.constant(1))  # type: ignore[arg-type]
    except NotAffine:
        return None


def _operand(value: ir.Value, passed: Mapping[ir.Value, ir.Value], values: Mapping[ir.Value, Index]) -> Index | None:
    """An operand in the caller's terms: an expression of sizes that are bound, or of extents."""
    index = read_value(value)
    replacements = dict(values)
    for part in index.values:
        if part not in replacements and defining_op(part, DimOp) is not None:
            extent = _extent(part.owner.operation, passed)
            if extent is not None:
                replacements[part] = extent
    return index.substitute(replacements) if all(v in replacements for v in index.values) else None


def _extent(op: ir.Operation, passed_values: Mapping[ir.Value, ir.Value]) -> Index | None:
    """The extent of an argument that a `memref.dim` of the callee asks for."""
    source, axis = DimOp(op).source, read_value(DimOp(op).axis).as_constant()
    passed = passed_values.get(source)
    return None if passed is None or axis is None else extents_of(passed)[axis]


def extents_of(value: ir.Value) -> list[Index]:
    """The extents of a buffer that is passed, behind casts that only forget them."""
    while cast := defining_op(value, MemrefCastOp):
        value = cast.source
    return Buffer(value).dims


def passed_dims(call: ir.Operation, callee: Func) -> list[PassedDim]:
    """Every extent that a call passes, besides what the parameter declares."""
    sizes, dims = bound_sizes(call, callee), []
    for number, (arg, value) in enumerate(zip(callee.args, call.operands, strict=True)):
        if not isinstance(arg.type, ir.MemRefType):
            continue
        for axis, (declared, extent) in enumerate(zip(Buffer(arg).dims, extents_of(value), strict=True)):
            bound = declared.substitute(sizes) if all(v in sizes for v in declared.values) else None
            dims.append(PassedDim(callee.arg_name(number), axis, bound, extent))
    return dims
