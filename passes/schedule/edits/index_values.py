"""Emit index expressions over values that are not affine dimensions as `arith` ops; common subexpressions of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from mlir import ir
from mlir.dialects import arith, memref

from tir_mlir.dialect.ir import Index, access_indices, attrs, create, edit, owner_op, read_apply, trim
from tir_mlir.dialect.ir.memo import touch_here
from tir_mlir.dialect.ir.op_traits import accessed_memref
from tir_mlir.dialect.ir.op_views import (
    AffineElementAccessOp,
    AffineLoadOp,
    AffineLoopOp,
    AffineStoreOp,
    ApplyOp,
    FuncOp,
    StoreOp,
    isa,
)
from tir_mlir.dialect.symbolic import fold_affine
from tir_mlir.passes.schedule.registry import refuse

EXPANDABLE = (AffineElementAccessOp, ApplyOp)


def expand_affine_op(op: ir.Operation, iters: Mapping[ir.Value, Index]) -> ir.Operation:
    """Replace an affine op, with `iters` substituted, by its non-affine counterpart, and return that."""
    with ir.InsertionPoint(op), op.location:
        if isa(op, AffineStoreOp):
            emitted = [emit_index(i.substitute(iters)) for i in access_indices(op)]
            stored = memref.store(StoreOp(op).value, accessed_memref(op), emitted)
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


def common_terms(expressions: Sequence[Index], often: int, is_chosen: Callable[[Index], bool]) -> list[Index]:
    """The subexpressions that occur at least `often` times, largest first, then in order of appearance.

    Operands of a chosen subexpression are not counted again. Those of one that is not `is_chosen`, or too rare, are.
    """
    first: dict[Index, Index] = {}
    for term in [t for expression in expressions for t in _subexpressions(expression)]:
        first.setdefault(canonical(term), term)
    direct = Counter(canonical(t) for t in expressions)
    nested: Counter[Index] = Counter()
    chosen = []
    for name in sorted(first, key=lambda n: -expr_size(first[n].expr)):
        count = direct[name] + nested[name]
        if count >= often and is_chosen(first[name]):
            chosen.append(first[name])
        elif direct[name]:
            for part in _subexpressions(first[name])[1:]:
                nested[canonical(part)] += direct[name]
    return chosen


def _subexpressions(index: Index) -> list[Index]:
    """An expression and its subexpressions, without variables and constants."""
    if expr_size(index.expr) == 1:
        return []
    return [index, *(p for part in operands(index) for p in _subexpressions(part))]


def canonical(index: Index) -> Index:
    """A normal form that does not depend on the order of operands."""
    order = sorted(index.values, key=hash)
    swap = [ir.AffineExpr.get_dim(order.index(v)) for v in index.values]
    expr = index.expr.compose(ir.AffineMap.get(len(order), 0, swap)) if swap else index.expr
    return trim(ir.AffineExpr.simplify_affine_expr(expr, len(order), 0), order)


def operands(index: Index) -> list[Index]:
    """The operands of the outermost operation; a and b for a difference `a + b * -1`."""
    expr = index.expr.maybe_downcast()
    if not isinstance(expr, ir.AffineBinaryExpr):
        return []
    right = subtrahend(expr)
    return [trim(expr.lhs, index.values), trim(expr.rhs if right is None else right, index.values)]


def subtrahend(expr: ir.AffineExpr) -> ir.AffineExpr | None:
    """The subtrahend of a sum: `b` of `a + b * -1`, 1 of `a + -1`; None if it is not a difference."""
    if not isinstance(expr, ir.AffineAddExpr):
        return None
    right = expr.rhs.maybe_downcast()
    if isinstance(right, ir.AffineConstantExpr) and right.value < 0:
        return ir.AffineExpr.get_constant(-right.value)
    if isinstance(right, ir.AffineMulExpr):
        factor = right.rhs.maybe_downcast()
        if isinstance(factor, ir.AffineConstantExpr) and factor.value == -1:
            return right.lhs.maybe_downcast()
    return None


def expr_size(expr: ir.AffineExpr) -> int:
    """The number of operands and operations of an expression."""
    expr = expr.maybe_downcast()
    if not isinstance(expr, ir.AffineBinaryExpr):
        return 1
    right = subtrahend(expr)
    return 1 + expr_size(expr.lhs) + expr_size(expr.rhs if right is None else right)


def values_in_order(index: Index) -> list[ir.Value]:
    """The values of an expression, in order of appearance."""
    dims = fold_affine(
        index.expr, lambda leaf: [leaf] if isinstance(leaf, ir.AffineDimExpr) else [], lambda _, a, b: [*a, *b]
    )
    return [index.values[d] for d in dict.fromkeys(dim.position for dim in dims)]


def contains_any(index: Index, terms: Sequence[Index]) -> bool:
    """Whether an expression contains one of some canonical terms."""
    return canonical(index) in terms or any(contains_any(p, terms) for p in operands(index))
