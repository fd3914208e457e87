"""Index expressions over values that are no affine dimensions (loaded, computed): written out in `arith`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mlir import ir
from mlir.dialects import arith, memref

from tir_mlir.dialect import attrs
from tir_mlir.dialect.index import Index, read_apply
from tir_mlir.dialect.walk import access_indices, accessed
from tir_mlir.passes.schedule.registry import refuse


def expanded(op: ir.Operation, iters: Mapping[ir.Value, Index]) -> ir.Operation:
    """Turn an affine op whose iters become expressions of any values into a plain one, which is returned."""
    with ir.InsertionPoint(op), op.location:
        if op.name == "affine.load":
            value = memref.load(accessed(op), [written_out(i.substitute(iters)) for i in access_indices(op)])
        elif op.name == "affine.apply":
            value = written_out(read_apply(op.results[0]).substitute(iters))
        else:
            refuse(
                op,
                f"a condition in the inlined block ({op.name}) would depend on an index that is not affine",
                provable=False,
                fix="compute_at takes the block to its reader, and keeps its buffer",
            )
    op.results[0].replace_all_uses_with(value)
    op.erase()
    return value.owner.operation


def written_out(index: Index) -> ir.Value:
    """The value of an expression as `arith` ops at the insertion point."""
    return _write(index.expr, index.values)


def _write(expr: ir.AffineExpr, values: Sequence[ir.Value]) -> ir.Value:
    expr = expr.maybe_downcast()
    if isinstance(expr, ir.AffineDimExpr):
        return values[expr.position]
    if isinstance(expr, ir.AffineConstantExpr):
        return arith.constant(ir.IndexType.get(), expr.value)
    left, right = _write(expr.lhs, values), _write(expr.rhs, values)  # type: ignore[attr-defined]
    if isinstance(expr, ir.AffineAddExpr):
        return arith.addi(left, right)
    if isinstance(expr, ir.AffineMulExpr):
        return arith.muli(left, right)
    if isinstance(expr, ir.AffineFloorDivExpr):
        return arith.floordivsi(left, right)
    if isinstance(expr, ir.AffineCeilDivExpr):
        return arith.ceildivsi(left, right)
    rest = arith.subi(left, arith.muli(arith.floordivsi(left, right), right))
    rest.owner.attributes[attrs.OP] = ir.StringAttr.get("floormod")
    return rest
