"""Change memref types throughout a module: values, bodies, signatures and declarations."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mlir import ir

from tir_mlir.dialect.ir.op_traits import ADDRESSED, takes_no_memref
from tir_mlir.dialect.ir.op_views import FuncOp, isa

Change = Callable[[ir.Type], ir.Type]


def retype(everything: Sequence[ir.Operation], change: Change) -> bool:
    """Apply `change` to the memref types of all given ops; returns whether any changed. The caller fixes loads and
    stores.
    """
    changed = False
    for op in everything:
        if (op.name in ADDRESSED or takes_no_memref(op.name)) and not len(op.regions):
            continue
        for value in _values(op):
            old = value.type
            if isinstance(old, ir.MemRefType) and (new := change(old)) != old:
                value.set_type(new)
                changed = True
        if isa(op, FuncOp):
            _signature(op, change)
    return changed


def _values(op: ir.Operation) -> list[ir.Value]:
    values: list[ir.Value] = list(op.results)
    for region in op.regions:
        for body in region.blocks:
            values += body.arguments
    return values


def _signature(op: ir.Operation, change: Change) -> None:
    def plain(type_: ir.Type) -> ir.Type:
        return change(type_) if isinstance(type_, ir.MemRefType) else type_

    type_ = ir.FunctionType(ir.TypeAttr(op.attributes["function_type"]).value)
    new = ir.FunctionType.get([plain(t) for t in type_.inputs], [plain(t) for t in type_.results])
    if new != type_:
        op.attributes["function_type"] = ir.TypeAttr.get(new)
