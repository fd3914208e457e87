"""The last tile of a symbolic extent: a body for each number of unrolled iterations that may be left for it."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from mlir import ir

from tir_mlir.dialect.ir import Constraint, Index, Loop, create, edit, is_loop, owner_op, step, walk
from tir_mlir.passes.lower.loops.hoist_guards import set_uppers
from tir_mlir.passes.lower.loops.tail_conditions import TileCondition, tile_conditions

MAX_TAIL = 8
"""The maximum number of unrolled iterations of a full tile: more would be too much code."""


def max_tail_iterations(loop: Loop, conditions: Sequence[TileCondition]) -> int:
    """The maximum number of iterations that the unrolled loops under a loop have in its partial tile, the same for all
    of them; 0 if it is not known, or if no sum runs around one of them: a loop whose iterations store to one place."""
    falls = step(conditions[0].runs, loop.var) or 0
    for condition in conditions:
        full = (condition.runs - condition.index).simplify().as_constant()
        is_same = condition.runs.is_equal_to(conditions[0].runs) and full == -falls - 1
        if not is_same or not is_loop(condition.op) or Loop(condition.op).kind != "unrolled":
            return 0
    return -falls - 1 if -falls <= MAX_TAIL and any(_is_summed(c.op, loop) for c in conditions) else 0


def _is_summed(unrolled: ir.Operation, loop: Loop) -> bool:
    """Whether a loop between two others adds up: what is stored in it does not depend on its variable."""
    between = itertools.takewhile(lambda p: p != loop.op, walk.parents(unrolled))
    stores = [op for op in walk.ops(unrolled) if op.name == "affine.store"]
    places = {v for op in stores for v in list(op.operands)[2:]}
    return bool(stores) and any(is_loop(p) and Loop(p).var not in places for p in between)


def tails_by_count(tail: ir.Operation, most: int) -> list[ir.Operation] | None:
    """Replace the loop over the only partial tile by one for each number of iterations, up to `most`, of the unrolled
    loops in it. Returns the ops in its place; None if it stays.

        for %i = n floordiv 4 to n ceildiv 4 {             if n mod 4 == 1 {for %i = ..: for %k: {body(0)}}
          for %k = 0 to 64 {                        -->    if n mod 4 == 2 {for %i = ..: for %k: {body(0) body(1)}}
            unrolled for %j = 0 to n - 4 * %i: body        if n mod 4 == 3 {for %i = ..: for %k: {body(0) .. body(2)}}

    What the unrolled loops keep from one iteration of %k to the next is then in registers. Nothing is changed if the
    number cannot be told before the loop.
    """
    loop = Loop(tail) if is_loop(tail) and most else None
    conditions = list(tile_conditions(loop)) if loop is not None else []
    if loop is None or not conditions or len(loop.lowers) != 1:
        return None
    iterations_left = (conditions[0].runs + 1).substitute({loop.var: loop.lowers[0]}).simplify()
    is_constant = not any(walk.is_inside(owner_op(v), tail) for v in iterations_left.values)
    if not is_constant or not all(c.runs.is_equal_to(conditions[0].runs) for c in conditions):
        return None
    ops = walk.ops(tail)
    places = [ops.index(c.op) for c in conditions]
    cases = [_case(tail, places, iterations_left, number) for number in range(1, most + 1)]
    tail.erase()
    return cases


def _case(tail: ir.Operation, places: Sequence[int], left: Index, number: int) -> ir.Operation:
    """A copy of the loop under the condition that so many iterations are left."""
    with ir.InsertionPoint(tail), tail.location:
        case = create.guard([Constraint((left - number).simplify(), is_eq=True)])
    copy = edit.clone(tail, create.at_end(case.regions[0].blocks[0]))
    ops = walk.ops(copy)
    for place in places:
        set_uppers(ops[place], [Index.constant(number)])
    return case
