"""Guards leave the loops they stand in: upwards where they do not depend on them, into their bounds where they do."""

from __future__ import annotations

from collections.abc import Sequence

from mlir import ir

from tir_mlir.dialect.ir import Constraint, Index, Loop, create, edit, is_loop, step, walk
from tir_mlir.dialect.presburger import intervals
from tir_mlir.passes.lower.registry import lowering, programs


@lowering("tir-lower-guards", "move guards out of loops and into their bounds; a loop that runs once goes")
def run(module: ir.Module) -> None:
    """Let no iteration ask what its loop can know.

        for %k = 0 to 64 {                                       affine.if (%i < 100) {
          for %j = 0 to 16 {                                       for %k = 0 to 64 {
            affine.if (%i < 100, 30 - %i - %j >= 0) {   -->          for %j = 0 to min(16, 31 - %i) {
              body                                                     body

    A constraint that falls with the loop variable becomes an upper bound; one without it goes around the loop; others
    stay. Loops whose whole body is one `affine.if` are taken, from the inside out. Requires blocks to be removed.
    """
    for func in programs(module):
        fold_single(func.op)
        for op in reversed([o for o in walk.ops(func.op) if is_loop(o)]):
            move_out(op)


def fold_single(root: ir.Operation) -> None:
    """Put the body of every loop beneath `root` that runs once in its place."""
    for op in reversed([o for o in walk.ops(root) if o != root and is_loop(o)]):
        if not len(op.results) and Loop(op).const_extent == 1:
            inline(op)


def inline(op: ir.Operation) -> None:
    """Put the body of a loop in its place, at its lower bound."""
    loop = Loop(op)
    edit.substitute({loop.var: loop.lower})
    for inner in loop.body_ops():
        inner.move_before(op)
    op.erase()


def move_out(op: ir.Operation) -> None:
    """Take what can be taken out of the guard that is the body of a loop."""
    body = Loop(op).body_ops()
    if len(body) != 1 or not is_plain_if(body[0]):
        return
    loop, guard = Loop(op), body[0]
    outer: list[Constraint] = []
    uppers: list[Index] = []
    inner: list[Constraint] = []
    for constraint in walk.constraints(guard):
        upper = upper_bound(constraint, loop.var)
        if loop.var not in constraint.index.values:
            outer.append(constraint)
        elif upper is not None:
            uppers.append(upper)
        else:
            inner.append(constraint)
    if inner:
        edit.rebuild_guard(guard, inner)
    else:
        for held in list(guard.regions[0].blocks[0].operations)[:-1]:
            held.move_before(guard)
        guard.erase()
    if uppers:
        op = set_uppers(op, [*loop.uppers, *uppers])
    if outer:
        with ir.InsertionPoint(op), op.location:
            around = create.guard(outer)
        op.move_before(list(around.regions[0].blocks[0].operations)[-1])


def is_plain_if(op: ir.Operation) -> bool:
    """Whether an op is an `affine.if` without results and without an else."""
    return op.name == "affine.if" and not len(op.results) and not len(op.regions[1].blocks)


def upper_bound(constraint: Constraint, var: ir.Value) -> Index | None:
    """What a constraint says about a variable as an exclusive upper bound, when it says just that."""
    falls = step(constraint.index, var)
    if constraint.is_eq or falls is None or falls >= 0:
        return None
    rest = (constraint.index + Index.of(var) * -falls).simplified()
    return None if var in rest.values else ((rest - falls) // -falls).simplified()


def set_uppers(op: ir.Operation, uppers: Sequence[Index]) -> ir.Operation:
    """Give a loop other upper bounds, those left out that another one or the ranges around make pointless."""
    return edit.set_bounds(op, Loop(op).lowers, least(uppers, intervals.around(op)))


def least(bounds: Sequence[Index], box: intervals.ValueRanges) -> list[Index]:
    """The bounds that can be the minimum, given what the variables range over."""
    kept: list[Index] = []
    for bound in bounds:
        if any(intervals.at_least_zero(bound - other, box) for other in kept):
            continue
        kept = [k for k in kept if not intervals.at_least_zero(k - bound, box)]
        kept.append(bound)
    return kept


def greatest(bounds: Sequence[Index], box: intervals.ValueRanges) -> list[Index]:
    """The bounds that can be the maximum."""
    return [-b for b in least([-b for b in bounds], box)]
