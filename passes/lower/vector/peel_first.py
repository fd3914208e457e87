"""Hoist what a loop does only in its first iteration, such as the init of a reduction."""

from __future__ import annotations

from mlir import ir

from tir_mlir.dialect.ir import Buffer, Constraint, Loop, edit, is_symbol, owner_op, step, walk
from tir_mlir.dialect.ir.op_views import AffineIfOp, AffineStoreOp, ConstantOp, StoreOp, isa
from tir_mlir.dialect.presburger import intervals
from tir_mlir.passes.lower.vector.reductions import users_in


def peel_first_iteration(loop: Loop) -> None:
    """Hoist what only the first iteration does, at its start, out of the loop.

        for %k = 0 to n { if (%k == 0) {C[%i] = 0} ; body }   -->   C[%i] = 0 ; for %k = 0 to n { body }

    Only stores of values defined outside; the other constraints of the condition remain.
    """
    if len(loop.lowers) != 1 or not may_hoist(loop):
        return
    for op in loop.body_ops():
        remaining = _first_iteration_constraints(op, loop) if isa(op, AffineIfOp) else None
        if remaining is None or not _stores_only(op, loop):
            continue
        op.move_before(loop.op)
        if remaining:
            edit.rebuild_guard(op, remaining)
        else:
            for inner in list(op.regions[0].blocks[0].operations)[:-1]:
                inner.operation.move_before(op)
            op.erase()


def may_hoist(loop: Loop) -> bool:
    """Whether ops may be hoisted although the loop may be empty: it is not, or only sizes decide."""
    box = intervals.enclosing_ranges(loop.op)
    if all(intervals.at_least_zero(u - low - 1, box) for u in loop.uppers for low in loop.lowers):
        return True
    return all(is_symbol(v) for i in (*loop.lowers, *loop.uppers) for v in i.values)


def _first_iteration_constraints(op: ir.Operation, loop: Loop) -> list[Constraint] | None:
    """The remaining constraints of a condition that holds only in the first iteration; None for any other condition.

    `16 * %o + %k == 0` is one: with %o >= 0 it holds only at %k = 0, and requires %o = 0.
    """
    remaining, only = [], False
    for c in walk.constraints(op):
        if loop.var not in c.index.values:
            remaining.append(c)
            continue
        grows = step(c.index, loop.var)
        if not c.is_eq or not grows:
            return None
        first = c.index.substitute({loop.var: loop.lower}).simplify()
        if not intervals.at_least_zero(first if grows > 0 else -first, intervals.enclosing_ranges(loop.op)):
            return None
        only = True
        if first.as_constant() != 0:
            remaining.append(Constraint(first, True))
    return remaining if only else None


def _stores_only(op: ir.Operation, loop: Loop) -> bool:
    """Whether an `if` only stores outside values at invariant elements that are not used before."""
    if len(op.results) or len(op.regions[1].blocks):
        return False
    stores = [o.operation for o in list(op.regions[0].blocks[0].operations)[:-1]]
    earlier = loop.body_ops()[: loop.body_ops().index(op)]
    for store in stores:
        if isa(store, ConstantOp):
            continue
        if not isa(store, AffineStoreOp) or not _is_outside(StoreOp(store).value, loop, op):
            return False
        if any(walk.is_inside(owner_op(v), loop.op) for i in walk.access_indices(store) for v in i.values):
            return False
        root = Buffer(StoreOp(store).memref).root.value
        if root != StoreOp(store).memref or any(users_in(root, o) for o in earlier):
            return False
    return True


def _is_outside(value: ir.Value, loop: Loop, op: ir.Operation) -> bool:
    owner = owner_op(value)
    return not walk.is_inside(owner, loop.op) or (walk.is_inside(owner, op) and isa(owner, ConstantOp))
