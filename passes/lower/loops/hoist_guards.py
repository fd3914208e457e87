"""Hoist guards out of loops that they do not depend on, and convert others to loop bounds."""

from __future__ import annotations

from collections.abc import Sequence

from mlir import ir

from tir_mlir.dialect.ir import Constraint, Index, Loop, annotation_keys, create, edit, is_loop, step, walk
from tir_mlir.dialect.ir.op_views import AffineIfOp, isa
from tir_mlir.dialect.presburger import intervals
from tir_mlir.passes.lower.memory.checks import SITE
from tir_mlir.passes.lower.registry import lowering, programs


@lowering("tir-lower-hoist-guards", "Hoist guards out of loops or into their bounds; inline loops that run once")
def run(module: ir.Module) -> None:
    """Hoist guards out of loops, or convert them to bounds.

        for %k = 0 to 64 {                                       affine.if (%i < 100) {
          for %j = 0 to 16 {                                       for %k = 0 to 64 {
            affine.if (%i < 100, 30 - %i - %j >= 0) {   -->          for %j = 0 to min(16, 31 - %i) {
              body                                                     body

    A constraint that decreases with the loop variable becomes an upper bound; one that does not use it is hoisted;
    others remain. Applies to loops whose body is a single `affine.if`, innermost first. Requires blocks to be removed.
    """
    for func in programs(module):
        inline_unit_loops(func.op)
        for op in reversed([o for o in walk.ops(func.op) if is_loop(o)]):
            hoist_guard(op)


def inline_unit_loops(root: ir.Operation) -> None:
    """Inline every loop under `root` that runs once, unless it prefetches or a binding is checked before it."""
    for op in reversed([o for o in walk.ops(root) if o != root and is_loop(o)]):
        if not len(op.results) and is_needless(Loop(op)):
            inline_loop(op)


def is_needless(loop: Loop) -> bool:
    """Whether a loop runs once, its annotations ask for nothing, and no check of a binding is to come before it."""
    return (
        loop.const_extent == 1 and annotation_keys.PREFETCH not in loop.annotations and SITE not in loop.op.attributes
    )


def inline_loop(op: ir.Operation) -> None:
    """Replace a loop by its body at the lower bound."""
    loop = Loop(op)
    edit.substitute({loop.var: loop.lower})
    for inner in loop.body_ops():
        inner.move_before(op)
    op.erase()


def hoist_guard(op: ir.Operation, to_bounds: bool = True) -> None:
    """Hoist the constraints of the guard that is the body of a loop, where possible, or convert them `to_bounds`."""
    body = Loop(op).body_ops()
    if len(body) != 1 or not is_plain_if(body[0]):
        return
    loop, guard = Loop(op), body[0]
    outer: list[Constraint] = []
    uppers: list[Index] = []
    inner: list[Constraint] = []
    for constraint in walk.constraints(guard):
        upper = upper_bound(constraint, loop.var) if to_bounds else None
        if loop.var not in constraint.index.values:
            outer.append(constraint)
        elif upper is not None:
            uppers.append(upper)
        else:
            inner.append(constraint)
    if inner and not outer and not uppers:
        return
    if inner:
        edit.rebuild_guard(guard, inner)
    else:
        for guarded in list(guard.regions[0].blocks[0].operations)[:-1]:
            guarded.move_before(guard)
        guard.erase()
    if uppers:
        op = set_uppers(op, [*loop.uppers, *uppers])
    if outer:
        with ir.InsertionPoint(op), op.location:
            hoisted = create.guard(outer)
        op.move_before(list(hoisted.regions[0].blocks[0].operations)[-1])


def is_plain_if(op: ir.Operation) -> bool:
    """Whether an op is an `affine.if` without results and else region."""
    return isa(op, AffineIfOp) and not len(op.results) and not len(op.regions[1].blocks)


def upper_bound(constraint: Constraint, var: ir.Value) -> Index | None:
    """The exclusive upper bound of a variable that a constraint is equivalent to, or None."""
    falls = step(constraint.index, var)
    if constraint.is_eq or falls is None or falls >= 0:
        return None
    without_var = (constraint.index + Index.from_value(var) * -falls).simplify()
    return None if var in without_var.values else ((without_var - falls) // -falls).simplify()


def set_uppers(op: ir.Operation, uppers: Sequence[Index]) -> ir.Operation:
    """Set the upper bounds of a loop, without those implied by another one or by the ranges of variables."""
    return edit.set_bounds(op, Loop(op).lowers, possible_minima(uppers, intervals.enclosing_ranges(op)))


def possible_minima(bounds: Sequence[Index], box: intervals.ValueRanges) -> list[Index]:
    """The bounds that can be the minimum, given the ranges of the variables."""
    if len(bounds) == 1:
        return list(bounds)
    minima: list[Index] = []
    for bound in bounds:
        if any(intervals.at_least_zero(bound - minimum, box) for minimum in minima):
            continue
        minima = [k for k in minima if not intervals.at_least_zero(k - bound, box)]
        minima.append(bound)
    return minima


def possible_maxima(bounds: Sequence[Index], box: intervals.ValueRanges) -> list[Index]:
    """The bounds that can be the maximum, given the ranges of the variables."""
    return list(bounds) if len(bounds) == 1 else [-b for b in possible_minima([-b for b in bounds], box)]
