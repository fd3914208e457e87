"""Guards and loops that threads pass differently, split so that a place that all threads reach comes between."""

from __future__ import annotations

from collections.abc import Sequence

from mlir import ir

from tir_mlir.dialect.ir import Constraint, Index, Loop, constraints, create, edit, is_loop, walk
from tir_mlir.dialect.ir.op_traits import is_pure, is_scalar
from tir_mlir.dialect.presburger import intervals


def split(control: ir.Operation, first: ir.Operation, second: ir.Operation) -> bool:
    """Rewrite the outermost op at which threads part, so that two ops in it are no longer both inside; or one step of
    it. Returns whether something was rewritten; else nothing has changed.

        if t < 48 { S[t] = ...; ... = S[47 - t] }      -->   if t < 48 { S[t] = ... }; if t < 48 { ... = S[47 - t] }
        if t < 48 { for k { ... } }                    -->   for k { if t < 48 { ... } }
        for k in range(t) { ... }                      -->   for k in range(63) { if k < t { ... } }
    """
    if is_loop(control):
        return _bounds_to_guards(Loop(control))
    if control.name != "affine.if" or len(control.results) or len(control.regions[1].blocks):
        return False
    early, late = (walk.child_towards(control, op) for op in (first, second))
    start, end = sorted((walk.position(early), walk.position(late)))
    if start != end:
        return any(_cut(control, number) for number in range(end, start, -1))
    count = len(control.regions[0].blocks[0].operations) - 1
    if start + 1 < count:
        return _cut(control, start + 1)
    if start > 0:
        return _cut(control, start)
    return _swap(control, early)


def _bounds_to_guards(loop: Loop) -> bool:
    """Bounds that differ between threads become conditions: the loop runs as often as for the busiest thread."""
    box = intervals.enclosing_ranges(loop.op)
    lows = [intervals.interval(index, box)[0] for index in loop.lowers]
    highs = [intervals.interval(index, box)[1] for index in loop.uppers]
    least, most = [n for n in lows if n is not None], [n for n in highs if n is not None]
    if len(loop.op.results) or loop.kind == "vectorized" or not least or not most:
        return False
    lowers, uppers = loop.lowers, loop.uppers
    op = edit.set_bounds(loop.op, [Index.constant(max(least))], [Index.constant(min(most))])
    body, var = [o.operation for o in Loop(op).body_ops()], Index.from_value(Loop(op).var)
    with ir.InsertionPoint(body[0]), op.location:
        guard = create.guard([*(Constraint(var - low) for low in lowers), *(Constraint(up - 1 - var) for up in uppers)])
    end = list(guard.regions[0].blocks[0].operations)[-1]
    for inner in body:
        edit.move_before(inner, end)
    return True


def _cut(control: ir.Operation, number: int) -> bool:
    """`if c { a; b }` -> `if c { a }; if c { b }` before op `number`; scalars of `a` that `b` uses are repeated."""
    body = [o.operation for o in control.regions[0].blocks[0].operations][:-1]
    before, after = body[:number], body[number:]
    repeated = _ops_to_repeat(before, after)
    if repeated is None:
        return False
    with ir.InsertionPoint.after(control), control.location:
        guard = create.guard(constraints(control))
    end = list(guard.regions[0].blocks[0].operations)[-1]
    values: dict[ir.Value, ir.Value] = {}
    for op in repeated:
        copy = edit.clone(op, ir.InsertionPoint(end), values)
        values |= dict(zip(op.results, copy.results, strict=True))
    for op in after:
        edit.move_before(op, end)
        edit.replace_values(op, values)
    return True


def _ops_to_repeat(before: Sequence[ir.Operation], after: Sequence[ir.Operation]) -> list[ir.Operation] | None:
    """The ops of the first part that the second part needs as well, in order; None if one may not be repeated."""
    later_ops = {op for top in after for op in walk.ops(top)}
    needed: set[ir.Operation] = set()
    for op in reversed(before):
        users = {use.owner.operation for result in op.results for use in result.uses}
        if users & (later_ops | needed):
            if not (is_scalar(op.name) or op.name == "affine.apply") or not is_pure(op) or len(op.regions):
                return None
            needed.add(op)
    return [op for op in before if op in needed]


def _swap(control: ir.Operation, only: ir.Operation) -> bool:
    """A guard around one loop or guard goes into it: `if c { for k { a } }` -> `for k { if c { a } }`."""
    if only.name == "affine.if" and not len(only.results) and not len(only.regions[1].blocks):
        edit.rebuild_guard(control, [*constraints(control), *constraints(only)])
        return _unwrap(only)
    if not is_loop(only) or len(only.results):
        return False
    body = [o.operation for o in Loop(only).body_ops()]
    if not body:
        return False
    with ir.InsertionPoint(body[0]), control.location:
        guard = create.guard(constraints(control))
    end = list(guard.regions[0].blocks[0].operations)[-1]
    for op in body:
        edit.move_before(op, end)
    edit.move_before(only, control)
    edit.drop(control)
    return True


def _unwrap(guard: ir.Operation) -> bool:
    for op in [o.operation for o in guard.regions[0].blocks[0].operations][:-1]:
        edit.move_before(op, guard)
    edit.drop(guard)
    return True
