"""Accesses of adjacent elements at a loaded position: `A[P[i] + lane]`, `A[P[i], lane]`."""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from mlir import ir

from tir_mlir.dialect.ir import attrs, defining_op, read_map, step
from tir_mlir.dialect.ir.op_traits import INDEX_CASTS, INTEGER_RING, accessed_memref, both_signs
from tir_mlir.dialect.ir.op_views import AddIOp, ApplyOp, BinaryOp, CastBaseOp, ConstantOp, MulIOp, isa
from tir_mlir.passes.lower.memory.checks import SITE
from tir_mlir.passes.lower.memory.strides import is_padded

INTEGER_CASTS = INDEX_CASTS | both_signs("arith.extsi")


def is_indirect_row(op: ir.Operation, var: ir.Value, varying: AbstractSet[ir.Value]) -> bool:
    """Whether a `memref.load` or `memref.store` accesses adjacent elements in adjacent iterations of `var`.

    Sums of indices are taken not to wrap around: such an access would be outside its buffer.
    """
    if attrs.get(op, SITE):
        return False  # each element is checked
    memref = accessed_memref(op)
    strides, _ = ir.MemRefType(memref.type).get_strides_and_offset()
    if is_padded(memref) or not strides or strides[-1] != 1:
        return False
    *outer, last = list(op.operands)[-len(strides) :]
    return lane_step(last, var, varying) == 1 and all(lane_step(v, var, varying) == 0 for v in outer)


def lane_step(value: ir.Value, var: ir.Value, varying: AbstractSet[ir.Value]) -> int | None:
    """The increment of an integer when `var` increases by one, if constant; else None."""
    if value == var:
        return 1
    if value not in varying:
        return 0
    op = defining_op(value)
    if op is None:
        return None
    if isa(op, ApplyOp):
        index = read_map(attrs.affine_map(op), list(op.operands))[0]
        return step(index, var) if all(v == var or v not in varying for v in index.values) else None
    if op.name in INTEGER_CASTS:
        return lane_step(CastBaseOp(op).source, var, varying)
    if op.name not in INTEGER_RING:
        return None
    a, b = (lane_step(v, var, varying) for v in op.operands)
    if a is None or b is None:
        return None
    if isa(op, MulIOp):
        return 0 if a == b == 0 else _product_step(BinaryOp(op), a, b)
    return a + b if isa(op, AddIOp) else a - b


def _product_step(product: BinaryOp, a: int, b: int) -> int | None:
    """The increment of a product with a constant."""
    for grows, factor in ((a, product.rhs), (b, product.lhs)):
        constant = defining_op(factor)
        if constant is not None and isa(constant, ConstantOp):
            return grows * ir.IntegerAttr(constant.attributes["value"]).value
    return None
