"""Full tiles apart from tails: loops are cut where a guard or bound beneath them starts to matter."""

from __future__ import annotations

import itertools

from mlir import ir

from tir_mlir.dialect.ir import Constraint, Index, Loop, create, edit, is_loop, is_symbol, owner_op, step, walk
from tir_mlir.dialect.presburger import intervals
from tir_mlir.passes.lower.loops.guards import greatest, inline, is_plain_if, least, set_uppers
from tir_mlir.passes.lower.loops.tail_conditions import FAST, Condition, Point, conditions, corner
from tir_mlir.passes.lower.op_attrs import always
from tir_mlir.passes.lower.registry import lowering, programs

LIMIT = 6000
"""Ops that a function may have after its loops were cut, so that guards in many dimensions do not fill the code."""

HARMLESS = ("affine.yield", "memref.alloc")


@lowering("tir-lower-tails", "run full tiles without the guards and bounds that only the last tile needs")
def run(module: ir.Module) -> None:
    """Cut a loop in two where what is beneath it stops being whole.

        for %i = 0 to 63 {                                 for %i = 0 to 62 {
          unrolled for %j = 0 to                             unrolled for %j = 0 to 16 {
              min(16, 1000 - 16 * %i) {         -->            body
            body                                           unrolled for %j = 0 to 8 {body at %i = 62}

    Only where the bound or guard belongs to a vectorized or unrolled loop: those need constant bounds. A parallel loop
    stays one loop with both bodies and a condition. Bounds may be symbolic. Requires `tir-lower-guards`.
    """
    for func in programs(module):
        settle(func.op)
        for body in [b for region in func.op.regions for b in region.blocks]:
            _cut_in(body, func.op)


def _cut_in(body: ir.Block, func: ir.Operation) -> None:
    """Cut the loops of a body, the outer ones first; pieces are looked into in turn."""
    pending = [op.operation for op in body.operations]
    while pending:
        op = pending.pop(0)
        pieces = _cut(Loop(op), func) if is_loop(op) else None
        if pieces is not None:
            pending = [*pieces, *pending]
            continue
        for region in op.regions:
            for inner in region.blocks:
                _cut_in(inner, func)


def _cut(loop: Loop, func: ir.Operation) -> list[ir.Operation] | None:
    """Cut one loop once; the ops that stand in its place, None when there is nothing to cut."""
    if not _is_cut(loop.op):
        return None
    found = [c for c in conditions(loop) if not _is_for_deeper(loop, c)]
    if not found or len(walk.ops(func)) + len(walk.ops(loop.op)) > LIMIT:
        return None
    if (corner_ := _corner_cut(loop, found)) is not None:
        return _cut_off(loop, *corner_)
    at, end = _constant_cut(loop, found), None
    if at is None:
        at, end = _symbolic_cut(loop, found), _end(loop, found)
    if at is None:
        return None
    return _cut_at(_inside(loop) if loop.kind == "parallel" else loop, at, end)


# --- where ------------------------------------------------------------------------------------------------------------


def _is_for_deeper(loop: Loop, condition: Condition) -> bool:
    """Whether a loop further in can set apart what is not whole: less is copied there."""
    for op in itertools.takewhile(lambda p: p != loop.op, walk.parents(condition.op)):
        if is_loop(op) and Loop(op).var in condition.index.values and _is_cut(op):
            inner = Loop(op)
            if any(is_symbol(v) for v in condition.index.values):
                return _ends(inner, condition.index, condition.box, most=False) is not None
            return _corner_cut(inner, [c for c in conditions(inner) if not _is_for_deeper(inner, c)]) is not None
    return False


def _is_cut(op: ir.Operation) -> bool:
    """Whether a loop is one of those that are cut."""
    loop = Loop(op)
    return not (loop.kind in FAST or loop.is_thread or len(loop.lowers) != 1 or len(op.results))


def _corner_cut(loop: Loop, found: list[Condition]) -> tuple[Index, Point] | None:
    """The end of the whole iterations, and the one iteration of this loop and those around it that is not, but runs;
    None where conditions differ about it."""
    if loop.kind == "parallel":
        return None
    points = [corner(loop, c) for c in found]
    at = _symbolic_cut(loop, found)
    if not points or at is None or any(p != points[0] for p in points) or not _is_all(loop, found):
        return None
    return None if points[0] is None else (at, points[0])


def _is_all(loop: Loop, found: list[Condition]) -> bool:
    """Whether a loop does nothing where none of these runs."""
    deciding = {c.op for c in found}
    acting = [op for op in walk.ops(loop.op)[1:] if not len(op.regions) and not edit.is_pure(op)]
    return all(op.name in HARMLESS or any(p in deciding for p in walk.parents(op)) for op in acting)


def _ends(loop: Loop, index: Index, box: intervals.ValueRanges, most: bool) -> Index | None:
    """The first value of the loop's variable at which `index >= 0` no longer holds for all (`most`: for any) values of
    the variables inside the loop; None where it is not of that form."""
    falls = step(index, loop.var)
    if falls is None or falls >= 0:
        return None
    rest = index + Index.of(loop.var) * -falls
    for value in rest.values:
        if not walk.is_inside(owner_op(value), loop.op) or value == loop.var:
            continue
        grows, (low, high) = step(rest, value), box.get(value, (None, None))
        end = None if grows is None else (high if (grows > 0) == most else low)
        if end is None:
            return None
        rest = rest.substitute({value: Index.constant(end)})
    rest = rest.simplified()
    return None if loop.var in rest.values else ((rest - falls) // -falls).simplified()


def _constant_cut(loop: Loop, found: list[Condition]) -> Index | None:
    """The first cut inside the range: where the first guard starts to matter, else where the last one lets nothing
    through."""
    low, high = loop.lower.as_constant(), loop.upper.as_constant()
    if low is None or high is None or len(loop.uppers) > 1:
        return None
    for most in (False, True):
        ends = [_ends(loop, c.index, c.box, most) for c in found]
        values = [e.as_constant() for e in ends if e is not None]
        inside = [v for v in values if v is not None and low < v < high]
        if inside:
            return Index.constant(max(inside) if most else min(inside))
    return None


def _symbolic_cut(loop: Loop, found: list[Condition]) -> Index | None:
    """The one place where all guards start to matter; None when there are several, or when it is an end of the loop."""
    ends = [e for c in found if (e := _ends(loop, c.index, c.box, most=False)) is not None]
    if not ends or loop.var in ends[0].values:
        return None
    least_ = ends[0]
    for end in ends[1:]:
        gap = (end - least_).simplified().as_constant()
        if gap is None:
            return None
        least_ = end if gap < 0 else least_
    if any(least_.same(u) for u in loop.uppers) or any(least_.same(v) for v in loop.lowers):
        return None
    box = intervals.around(loop.op)
    pointless = any(intervals.at_least_zero(least_ - u, box) for u in loop.uppers)
    return None if pointless or intervals.at_least_zero(loop.lower - least_, box) else least_


def _end(loop: Loop, found: list[Condition]) -> Index | None:
    """Where a loop does nothing any more; None where conditions differ about it, or it does more than they decide."""
    ends = [_ends(loop, c.runs, c.box, most=True) for c in found]
    if not _is_all(loop, found) or ends[0] is None or any(e is None or not ends[0].same(e) for e in ends):
        return None
    return ends[0]


# --- the cut ----------------------------------------------------------------------------------------------------------


def _cut_at(loop: Loop, at: Index, end: Index | None = None) -> list[ir.Operation]:
    """`for [low, high)` as `for [low, at)` and `for [at, high)`, or up to `end`; what is left of them once they are
    settled."""
    op = loop.op
    first = set_uppers(edit.clone(op, ir.InsertionPoint(op)), [at, *loop.uppers])
    lowers = greatest([*loop.lowers, at], intervals.around(op))
    uppers = loop.uppers if end is None else least([*loop.uppers, end], intervals.around(op))
    rest = edit.set_bounds(op, lowers, uppers)
    return [*settle(first), *settle(rest)]


def _cut_off(loop: Loop, at: Index, point: Point) -> list[ir.Operation]:
    """The whole iterations of a loop, and one body more where the loops around are at the point that has a rest."""
    op, number = loop.op, point[loop.var]
    outer = {v: Index.constant(n) for v, n in point.items() if v != loop.var}
    with ir.InsertionPoint.after(op), op.location:
        rest = create.guard([Constraint((Index.of(v) - n).simplified(), is_eq=True) for v, n in outer.items()])
    last = edit.clone(op, create.at_end(rest.regions[0].blocks[0]))
    first = set_uppers(op, [at, *loop.uppers])
    last = edit.set_bounds(last, [Index.constant(number)], [Index.constant(number + 1)])
    edit.substitute(outer, last)
    settle(last)
    return [*settle(first), rest]


def _inside(loop: Loop) -> Loop:
    """A serial loop over one iteration of a parallel loop, around its whole body: what is cut in its place."""
    held = loop.body_ops()
    with ir.InsertionPoint(held[0]), loop.op.location:
        made = create.loop(loop.name, Index.of(loop.var), Index.of(loop.var) + 1)
    end = list(made.body.operations)[-1]
    for op in held:
        op.move_before(end)
        edit.substitute({loop.var: Index.of(made.var)}, op)
    return made


# --- what is known inside a piece -------------------------------------------------------------------------------------


def settle(op: ir.Operation) -> list[ir.Operation]:
    """Tidy an op under what its variables range over: bounds and guards that are decided, loops and guards that run
    never or once. Returns what stands in its place."""
    if is_loop(op) and not len(op.results):
        return _settle_loop(op)
    if is_plain_if(op):
        return _settle_guard(op)
    _settle_bodies(op)
    return [op]


def _settle_bodies(op: ir.Operation) -> None:
    for region in op.regions:
        for body in region.blocks:
            for inner in list(body.operations)[:-1]:
                settle(inner.operation)


def _settle_loop(op: ir.Operation) -> list[ir.Operation]:
    loop, box = Loop(op), intervals.around(op)
    lowers, uppers = greatest(loop.lowers, box), least(loop.uppers, box)
    if len(uppers) > 1 and loop.kind in FAST:
        uppers = _without_open(op, uppers)
    if any(intervals.at_least_zero(low - high, box) for low in lowers for high in uppers):
        op.erase()
        return []
    if len(lowers) < len(loop.lowers) or len(uppers) < len(loop.uppers):
        op = edit.set_bounds(op, lowers, uppers)
    loop = Loop(op)
    only = intervals.within(op).get(loop.var, (None, None))
    if only[0] is not None and only[0] == only[1]:
        edit.substitute({loop.var: Index.constant(only[0])})
    _settle_bodies(op)
    loop = Loop(op)
    for made in [o for o in loop.body_ops() if o.name == "memref.alloc" and not any(True for _ in o.results[0].uses)]:
        made.erase()
    if not loop.body_ops():
        op.erase()
        return []
    if loop.const_extent == 1:
        held = loop.body_ops()
        inline(op)
        return held
    return [op]


def _without_open(op: ir.Operation, uppers: list[Index]) -> list[Index]:
    """The constant bound alone, where it is the least: sizes and loops around may be related."""
    whole = [u for u in uppers if u.as_constant() is not None]
    return whole if whole and all(always(op, u - whole[0]) for u in uppers) else uppers


def _settle_guard(op: ir.Operation) -> list[ir.Operation]:
    box = intervals.around(op)
    known = walk.constraints(op)
    if any(intervals.at_least_zero(-c.index - 1, box) for c in known):
        op.erase()
        return []
    open_ = [c for c in known if c.is_eq or not intervals.at_least_zero(c.index, box)]
    if len(open_) < len(known) and open_:
        op = edit.rebuild_guard(op, open_)
    _settle_bodies(op)
    held = [o.operation for o in list(op.regions[0].blocks[0].operations)[:-1]]
    if held and open_:
        return [op]
    for inner in held:
        inner.move_before(op)
    op.erase()
    return held
