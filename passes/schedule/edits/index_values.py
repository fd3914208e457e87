"""Emit index expressions over values that are not affine dimensions (loaded or computed) as `arith` ops."""

from __future__ import annotations

from collections.abc import Mapping

from mlir import ir
from mlir.dialects import arith, memref

from tir_mlir.dialect.ir import Index, access_indices, attrs, create, edit, owner_op, read_apply
from tir_mlir.dialect.ir.memo import touch_here
from tir_mlir.dialect.ir.op_traits import (
    AFFINE_ELEMENT_ACCESSES,
    accessed_memref,
)
from tir_mlir.dialect.ir.op_views import AffineLoadOp, AffineLoopOp, AffineStoreOp, ApplyOp, FuncOp, isa
from tir_mlir.passes.schedule.edits.common_subexpressions import operands, subtrahend
from tir_mlir.passes.schedule.registry import refuse

EXPANDABLE = AFFINE_ELEMENT_ACCESSES | {"affine.apply"}


def expand_affine_op(op: ir.Operation, iters: Mapping[ir.Value, Index]) -> ir.Operation:
    """Replace an affine op, with `iters` substituted, by its non-affine counterpart, and return that."""
    with ir.InsertionPoint(op), op.location:
        if isa(op, AffineStoreOp):
            emitted = [emit_index(i.substitute(iters)) for i in access_indices(op)]
            stored = memref.store(op.operands[0], accessed_memref(op), emitted)
            edit.drop(op)
            return stored.operation
        if isa(op, AffineLoadOp):
            value = memref.load(accessed_memref(op), [emit_index(i.substitute(iters)) for i in access_indices(op)])
        elif isa(op, ApplyOp):
            value = emit_index(read_apply(op.results[0]).substitute(iters))
        else:
            refuse(
                op,
                f"a condition in the inlined block ({op.name}) would depend on a non-affine index",
                provable=False,
                fix="compute_at moves the block to its reader and keeps its buffer",
            )
    edit.replace_uses(op.results[0], value)
    edit.drop(op)
    return value.owner.operation


def emit_index(index: Index) -> ir.Value:
    """Emit the value of an expression at the insertion point: `affine.apply` where MLIR allows it, else `arith` ops."""
    if all(is_affine_value(v) for v in index.values):
        return create.apply(index)
    if (value := index.is_value()) is not None:
        return value
    lhs, right = (emit_index(part) for part in operands(index))
    return emit_operation(index.expr.maybe_downcast(), lhs, right)


def emit_operation(expr: ir.AffineExpr, lhs: ir.Value, right: ir.Value) -> ir.Value:
    """Emit the outermost operation of an expression over the values of its operands."""
    touch_here()
    if isinstance(expr, ir.AffineAddExpr):
        return arith.addi(lhs, right) if subtrahend(expr) is None else arith.subi(lhs, right)
    if isinstance(expr, ir.AffineMulExpr):
        return arith.muli(lhs, right)
    if isinstance(expr, ir.AffineFloorDivExpr):
        return arith.floordivsi(lhs, right)
    if isinstance(expr, ir.AffineCeilDivExpr):
        return arith.ceildivsi(lhs, right)
    return emit_floormod(lhs, right)


def emit_floormod(lhs: ir.Value, right: ir.Value) -> ir.Value:
    """Emit the remainder of a division rounded down."""
    touch_here()
    remainder = arith.subi(lhs, arith.muli(arith.floordivsi(lhs, right), right))
    edit.set_attribute(remainder.owner, attrs.OP, ir.StringAttr.get("floormod"))
    return remainder


def is_affine_value(value: ir.Value) -> bool:
    """Whether a value may be an operand of an affine map: loop variables, iters, sizes, and their affine
    combinations.
    """
    owner = owner_op(value)
    if isinstance(value.owner, ir.Block):
        return isa(owner, AffineLoopOp, FuncOp)
    return isa(owner, ApplyOp) or (owner.parent is not None and isa(owner.parent, FuncOp))
