"""Peel partial tiles: split a loop where a guard or bound beneath it starts to take effect."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from mlir import ir

from tir_mlir.dialect.ir import (
    Constraint,
    Index,
    Loop,
    create,
    direct_ops,
    edit,
    is_loop,
    is_symbol,
    owner_op,
    step,
    walk,
)
from tir_mlir.dialect.ir.op_traits import is_pure
from tir_mlir.dialect.ir.op_views import AffineStoreOp, AllocLikeOp, AllocOp, YieldOp, isa
from tir_mlir.dialect.presburger import intervals
from tir_mlir.passes.lower.loops.hoist_guards import (
    inline_loop,
    is_needless,
    is_plain_if,
    possible_maxima,
    possible_minima,
    set_uppers,
)
from tir_mlir.passes.lower.loops.tail_conditions import FAST_KINDS, Point, TileCondition, partial_point, tile_conditions
from tir_mlir.passes.lower.memory.checks import SITE
from tir_mlir.passes.lower.op_attrs import is_nonnegative
from tir_mlir.passes.lower.registry import lowering, programs

MAX_TAIL = 8
"""The maximum number of unrolled iterations of a full tile: more would be too much code."""
MAX_OPS = 6000
"""The maximal number of ops in a function after peeling, so that guards in many dimensions do not blow up the code."""


@lowering("tir-lower-peel-tails", "Peel partial tiles, so that full tiles run without guards and with constant bounds")
def run(module: ir.Module) -> None:
    """Split a loop at the first iteration whose tile is partial.

        for %i = 0 to 63 {                                 for %i = 0 to 62 {
          unrolled for %j = 0 to                             unrolled for %j = 0 to 16 {
              min(16, 1000 - 16 * %i) {         -->            body
            body                                           unrolled for %j = 0 to 8 {body at %i = 62}

    Only if the bound or guard belongs to a vectorized or unrolled loop, which needs constant bounds. A parallel loop is
    not split: it gets both bodies under a condition. Bounds may be symbolic; then a partial tile of up to 7 unrolled
    iterations inside a sum has a body for each number of them. Requires `tir-lower-hoist-guards`.
    """
    for func in programs(module):
        simplify(func.op)
        if any(is_loop(op) and Loop(op).kind in FAST_KINDS for op in walk.ops(func.op)):
            _peel_bodies(func.op, func.op)


def _peel_bodies(parent: ir.Operation, func: ir.Operation) -> None:
    """Peel the loops directly in an op, outer ones first; pieces are peeled again."""
    pending = _with_bodies(parent)
    while pending:
        op = pending.pop(0)
        pieces = _split_once(Loop(op), func) if is_loop(op) else None
        if pieces is not None:
            pending = [*pieces, *pending]
        else:
            _peel_bodies(op, func)


def _with_bodies(op: ir.Operation) -> list[ir.Operation]:
    """The ops directly in an op that have bodies of their own."""
    return [inner for inner in direct_ops(op) if len(inner.regions)]


def _split_once(loop: Loop, func: ir.Operation) -> list[ir.Operation] | None:
    """Split one loop once; returns the ops instead of it, or None if there is nothing to peel."""
    if not _is_candidate(loop.op):
        return None
    conditions = [c for c in tile_conditions(loop) if not _belongs_to_inner(loop, c)]
    if not conditions or len(walk.ops(func)) + len(walk.ops(loop.op)) > MAX_OPS:
        return None
    if (corner_ := _corner_split(loop, conditions)) is not None:
        return _peel_point(loop, *corner_)
    point, end = _constant_split(loop, conditions), None
    if point is None:
        point, end = _symbolic_split(loop, conditions), _idle_start(loop, conditions)
    if point is None:
        return None
    most = 0 if end is None else _max_tail_iterations(loop, conditions)
    *pieces, tail = _split_at(_inner_serial_loop(loop) if loop.kind == "parallel" else loop, point, end)
    cases = _tails_by_count(tail, most)
    if cases is None:
        return [*pieces, tail]
    return [*pieces, *(op for case in cases for op in simplify(case, _restricted_values(case)))]


# --- where to split ---------------------------------------------------------------------------------------------------


def _belongs_to_inner(loop: Loop, condition: TileCondition) -> bool:
    """Whether an inner loop can be split for a condition instead, which duplicates less code."""
    for op in itertools.takewhile(lambda p: p != loop.op, walk.parents(condition.op)):
        if is_loop(op) and Loop(op).var in condition.index.values and _is_candidate(op):
            inner = Loop(op)
            if any(is_symbol(v) for v in condition.index.values):
                return _first_failure(inner, condition.index, condition.box, most=False) is not None
            return (
                _corner_split(inner, [c for c in tile_conditions(inner) if not _belongs_to_inner(inner, c)]) is not None
            )
    return False


def _is_candidate(op: ir.Operation) -> bool:
    """Whether a loop is a candidate for splitting."""
    loop = Loop(op)
    return not (loop.kind in FAST_KINDS or loop.is_thread or len(loop.lowers) != 1 or len(op.results))


def _corner_split(loop: Loop, conditions: list[TileCondition]) -> tuple[Index, Point] | None:
    """The end of the full iterations, and the only point of this loop and its parents with a partial, non-empty tile;
    None if the conditions have no single one.
    """
    if loop.kind == "parallel":
        return None
    points = [partial_point(loop, c) for c in conditions]
    split = _symbolic_split(loop, conditions)
    if not points or split is None or any(p != points[0] for p in points) or not _decides_all(loop, conditions):
        return None
    return None if points[0] is None else (split, points[0])


def _decides_all(loop: Loop, conditions: list[TileCondition]) -> bool:
    """Whether a loop does nothing where none of these conditions allows it."""
    deciding = {c.op for c in conditions}
    acting = [op for op in walk.ops(loop.op)[1:] if not len(op.regions) and not is_pure(op)]
    return all(isa(op, YieldOp, AllocLikeOp) or any(p in deciding for p in walk.parents(op)) for op in acting)


def _first_failure(loop: Loop, index: Index, box: intervals.ValueRanges, most: bool) -> Index | None:
    """The first value of the loop's variable at which `index >= 0` no longer holds for all (`most`: for any) values of
    the inner variables; None if it has no such form.
    """
    falls = step(index, loop.var)
    if falls is None or falls >= 0:
        return None
    without_var = index + Index.from_value(loop.var) * -falls
    for value in without_var.values:
        if not walk.is_inside(owner_op(value), loop.op) or value == loop.var:
            continue
        grows, (low, high) = step(without_var, value), box.get(value, (None, None))
        end = None if grows is None else (high if (grows > 0) == most else low)
        if end is None:
            return None
        without_var = without_var.substitute({value: Index.constant(end)})
    without_var = without_var.simplify()
    return None if loop.var in without_var.values else ((without_var - falls) // -falls).simplify()


def _constant_split(loop: Loop, conditions: list[TileCondition]) -> Index | None:
    """The first split point inside the range: where the first guard takes effect, else where the last one excludes
    everything.
    """
    low, high = loop.lower.as_constant(), loop.upper.as_constant()
    if low is None or high is None or len(loop.uppers) > 1:
        return None
    for most in (False, True):
        ends = [_first_failure(loop, c.index, c.box, most) for c in conditions]
        values = [e.as_constant() for e in ends if e is not None]
        in_range = [v for v in values if v is not None and low < v < high]
        if in_range:
            return Index.constant(max(in_range) if most else min(in_range))
    return None


def _symbolic_split(loop: Loop, conditions: list[TileCondition]) -> Index | None:
    """The only split point where all guards take effect; None if there are several, or if it is an end of the loop."""
    ends = [e for c in conditions if (e := _first_failure(loop, c.index, c.box, most=False)) is not None]
    if not ends or loop.var in ends[0].values:
        return None
    least_ = ends[0]
    for end in ends[1:]:
        gap = (end - least_).simplify().as_constant()
        if gap is None:
            return None
        least_ = end if gap < 0 else least_
    if any(least_.is_equal_to(u) for u in loop.uppers) or any(least_.is_equal_to(v) for v in loop.lowers):
        return None
    box = intervals.enclosing_ranges(loop.op)
    pointless = any(intervals.at_least_zero(least_ - u, box) for u in loop.uppers)
    return None if pointless or intervals.at_least_zero(loop.lower - least_, box) else least_


def _idle_start(loop: Loop, conditions: list[TileCondition]) -> Index | None:
    """Where the loop's remaining iterations are empty; None if conditions differ, or other ops run there."""
    ends = [_first_failure(loop, c.runs, c.box, most=True) for c in conditions]
    if (
        not _decides_all(loop, conditions)
        or ends[0] is None
        or any(e is None or not ends[0].is_equal_to(e) for e in ends)
    ):
        return None
    return ends[0]


# --- splitting --------------------------------------------------------------------------------------------------------


def _split_at(loop: Loop, split: Index, end: Index | None = None) -> list[ir.Operation]:
    """`for [low, high)` as `for [low, at)` and `for [at, high)`, or up to `end`, both simplified."""
    op = loop.op
    first = set_uppers(edit.clone(op, ir.InsertionPoint(op)), [split, *loop.uppers])
    lowers = possible_maxima([*loop.lowers, split], intervals.enclosing_ranges(op))
    uppers = loop.uppers if end is None else possible_minima([*loop.uppers, end], intervals.enclosing_ranges(op))
    second = edit.set_bounds(op, lowers, uppers)
    return [piece for half in (first, second) for piece in simplify(half, _restricted_values(half))]


def _peel_point(loop: Loop, split: Index, point: Point) -> list[ir.Operation]:
    """The full iterations of a loop, and a single body for the point with a partial tile."""
    op, number = loop.op, point[loop.var]
    outer = {v: Index.constant(n) for v, n in point.items() if v != loop.var}
    with ir.InsertionPoint.after(op), op.location:
        corner = create.guard([Constraint((Index.from_value(v) - n).simplify(), is_eq=True) for v, n in outer.items()])
    last = edit.clone(op, create.at_end(corner.regions[0].blocks[0]))
    first = set_uppers(op, [split, *loop.uppers])
    last = edit.set_bounds(last, [Index.constant(number)], [Index.constant(number + 1)])
    edit.substitute(outer, last)
    simplify(last)
    return [*simplify(first), corner]


def _inner_serial_loop(loop: Loop) -> Loop:
    """A serial loop over one iteration of a parallel loop, around its whole body, which is split instead of it."""
    body = loop.body_ops()
    with ir.InsertionPoint(body[0]), loop.op.location:
        serial = create.loop(loop.name, Index.from_value(loop.var), Index.from_value(loop.var) + 1)
    end = list(serial.body.operations)[-1]
    for op in body:
        op.move_before(end)
        edit.substitute({loop.var: Index.from_value(serial.var)}, op)
    return serial


# --- simplification of the pieces -------------------------------------------------------------------------------------


def simplify(op: ir.Operation, news: set[ir.Value] | None = None) -> list[ir.Operation]:
    """Simplify an op under the ranges of its variables: decided bounds and guards, loops and guards that run never or
    once. Returns the ops instead of it. news: the values about which more is known than before; None: any. What does
    not depend on them is not proved once more.
    """
    if is_loop(op) and not len(op.results):
        return _simplify_loop(op, news)
    if is_plain_if(op):
        return _simplify_guard(op, news)
    _simplify_bodies(op, news)
    return [op]


def _restricted_values(op: ir.Operation) -> set[ir.Value]:
    """The values that a loop or a guard says something about."""
    if is_plain_if(op):
        return {v for c in walk.constraints(op) for v in c.index.values}
    loop = Loop(op)
    return {loop.var, *(v for b in [*loop.lowers, *loop.uppers] for v in b.values)}


def _simplify_bodies(op: ir.Operation, news: set[ir.Value] | None) -> None:
    for inner in _with_bodies(op):
        simplify(inner, news)


def _simplify_loop(op: ir.Operation, news: set[ir.Value] | None) -> list[ir.Operation]:
    depends = news is not None and not news.isdisjoint(_restricted_values(op))
    if (constant := _constant_range(Loop(op))) is None:
        if (shorter := _without_idle_bounds(op, news)) is None:
            return []
        op = shorter
        low, high = intervals.body_ranges(op).get(Loop(op).var, (None, None))
    else:
        low, high = constant
        if low > high:
            op.erase()
            return []
    if low is not None and low == high and SITE not in op.attributes:  # a check compares the variable
        edit.substitute({Loop(op).var: Index.constant(low)})
    _simplify_bodies(op, news | {Loop(op).var} if news is not None and depends else news)
    loop, body = Loop(op), []
    for inner in loop.body_ops():
        if isa(inner, AllocOp) and not any(True for _ in inner.results[0].uses):
            inner.erase()
        else:
            body.append(inner)
    if not body:
        op.erase()
        return []
    if is_needless(loop):
        inline_loop(op)
        return body
    return [op]


def _constant_range(loop: Loop) -> tuple[int, int] | None:
    """The first and the last value of the variable of a loop with constant bounds: nothing decides them further."""
    if len(loop.lowers) != 1 or len(loop.uppers) != 1:
        return None
    low, high = loop.lowers[0].as_constant(), loop.uppers[0].as_constant()
    return None if low is None or high is None else (low, high - 1)


def _without_idle_bounds(op: ir.Operation, news: set[ir.Value] | None) -> ir.Operation | None:
    """A loop without the bounds that others imply; None if it never runs and was erased."""
    loop, box = Loop(op), intervals.enclosing_ranges(op)
    lowers, uppers = possible_maxima(loop.lowers, box), possible_minima(loop.uppers, box)
    is_new = news is None or any(v in news for u in uppers for v in u.values)
    if len(uppers) > 1 and loop.kind in FAST_KINDS and is_new:
        uppers = _constant_minimum(op, uppers)
    if any(intervals.at_least_zero(low - high, box) for low in lowers for high in uppers):
        op.erase()
        return None
    if len(lowers) < len(loop.lowers) or len(uppers) < len(loop.uppers):
        return edit.set_bounds(op, lowers, uppers)
    return op


def _constant_minimum(op: ir.Operation, uppers: list[Index]) -> list[Index]:
    """Only the constant bound if it is the minimum: the interval arithmetic ignores relations between sizes and outer
    loops.
    """
    constants = [u for u in uppers if u.as_constant() is not None]
    return constants if constants and all(is_nonnegative(op, u - constants[0]) for u in uppers) else uppers


def _simplify_guard(op: ir.Operation, news: set[ir.Value] | None) -> list[ir.Operation]:
    box = intervals.enclosing_ranges(op)
    constraints = walk.constraints(op)
    if any(intervals.at_least_zero(-c.index - 1, box) for c in constraints):
        op.erase()
        return []
    open_ = [c for c in constraints if c.is_eq or not intervals.at_least_zero(c.index, box)]
    if len(open_) < len(constraints) and open_:
        op = edit.rebuild_guard(op, open_)
    _simplify_bodies(op, news)
    body = [o.operation for o in list(op.regions[0].blocks[0].operations)[:-1]]
    if body and open_:
        return [op]
    for inner in body:
        inner.move_before(op)
    op.erase()
    return body


def _max_tail_iterations(loop: Loop, conditions: Sequence[TileCondition]) -> int:
    """The maximum number of iterations that the unrolled loops under a loop have in its partial tile, the same for all
    of them; 0 if it is not known, or if no sum runs around one of them: a loop that stores to one element."""
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
    stores = [op for op in walk.ops(unrolled) if isa(op, AffineStoreOp)]
    positions = {v for op in stores for v in list(op.operands)[2:]}
    return bool(stores) and any(is_loop(p) and Loop(p).var not in positions for p in between)


def _tails_by_count(tail: ir.Operation, most: int) -> list[ir.Operation] | None:
    """Replace the loop over the only partial tile by one for each number of iterations, up to `most`, of the unrolled
    loops in it. Returns the ops instead of it; None if it remains.

        for %i = n floordiv 4 to n ceildiv 4 {             if n mod 4 == 1 {for %i = ..: for %k: {body(0)}}
          for %k = 0 to 64 {                        -->    if n mod 4 == 2 {for %i = ..: for %k: {body(0) body(1)}}
            unrolled for %j = 0 to n - 4 * %i: body        if n mod 4 == 3 {for %i = ..: for %k: {body(0) .. body(2)}}

    What the unrolled loops keep from one iteration of %k to the next is then in registers. Nothing is changed if the
    number is not known before the loop.
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
    positions = [ops.index(c.op) for c in conditions]
    cases = [_case(tail, positions, iterations_left, number) for number in range(1, most + 1)]
    tail.erase()
    return cases


def _case(tail: ir.Operation, positions: Sequence[int], left: Index, number: int) -> ir.Operation:
    """A copy of the loop under the condition that so many iterations are left."""
    with ir.InsertionPoint(tail), tail.location:
        case = create.guard([Constraint((left - number).simplify(), is_eq=True)])
    copy = edit.clone(tail, create.at_end(case.regions[0].blocks[0]))
    ops = walk.ops(copy)
    for position in positions:
        set_uppers(ops[position], [Index.constant(number)])
    return case
