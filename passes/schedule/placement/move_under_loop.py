"""Moving a block under a loop, and where in its body; used by compute_at and reverse_compute_at."""

from __future__ import annotations

from collections.abc import Sequence

from mlir import ir

from tir_mlir.dialect.ir import (
    Block,
    Constraint,
    Index,
    Loop,
    attrs,
    create,
    edit,
    is_inside,
    is_loop,
    parent_op,
    walk,
)
from tir_mlir.dialect.presburger import (
    intervals,
    sets,
)
from tir_mlir.dialect.verify import left_out
from tir_mlir.passes.schedule.edits import shrink_domains
from tir_mlir.passes.schedule.legality import nest_top, scope_of
from tir_mlir.passes.schedule.placement.needed_region import IterSpan
from tir_mlir.passes.schedule.registry import check, refuse, warn_serial


def move(block: Block, loop: Loop, spans: Sequence[IterSpan], anchor: ir.Operation, keep_units: bool) -> None:
    """Move a block out of its nest to before `anchor`, under loops ax0, ax1, ... over the spans."""
    number = block.id
    stop = scope_of(block).op
    top = nest_top(block)
    old_loops = [lp for lp in walk.loops_above(block.op) if lp.op == top or walk.is_inside(lp.op, top)]
    warn_serial(old_loops, f'moving block "{block.name}"')
    bindings, ip = [], ir.InsertionPoint(anchor)
    guards: list[Constraint] = []
    count = 0
    for span in spans:
        if span.extent.as_constant() == 1 and not keep_units:
            binding = span.low
        else:
            with ip, block.op.location:
                new_loop = create.loop(f"ax{count}", 0, span.extent)
            count += 1
            binding = span.low + Index.of(new_loop.var)
            ip = create.at_end(new_loop.body)
        bindings.append(binding.simplified())
        if span.guarded:
            guards += [Constraint(binding - span.iter.min), Constraint(span.iter.min + span.iter.extent - 1 - binding)]
    box = _box_at(ip)
    guards = [Constraint(g.index.simplified()) for g in guards if not intervals.at_least_zero(g.index, box)]
    if guards:
        dom = sets.domain(list(ip.block.operations)[-1].operation, extra=[g.index for g in guards])
        guards = [g for g in guards if not sets.holds(dom, g.index)]
    with ip, block.op.location:
        if guards:
            ip = create.at_end(create.where(guards).regions[0].blocks[0])
    edit.move_before(block.op, list(ip.block.operations)[-1] if guards or count else anchor)
    moved = edit.rebind(block.op, bindings) if bindings else block.op
    attrs.put(moved, attrs.ID, number)
    if left_out(Block(moved)):  # the guard was there before the move
        shrink_domains(Block(moved))
    _erase_empty_nest(top, stop)


def _box_at(ip: ir.InsertionPoint) -> intervals.ValueRanges:
    return intervals.around(list(ip.block.operations)[-1].operation)


def _erase_empty_nest(top: ir.Operation, stop: ir.Operation) -> None:
    """Erase what is left of the old nest: loops and guards without a block."""
    try:
        if any(op.name == "affine.parallel" for op in walk.ops(top)):
            return
    except RuntimeError:
        return
    parent = parent_op(top)
    edit.erase(top)
    empty = (
        parent != stop
        and (is_loop(parent) or parent.name == "affine.if")
        and len(list(parent.regions[0].blocks[0].operations)) == 1
    )
    if empty:
        _erase_empty_nest(parent, stop)


def insertion_point(loop: Loop, earlier: Sequence[Block], later: Sequence[Block], index: int) -> ir.Operation:
    """The op of the loop's body before which to insert: after all of `earlier`, before all of `later`.

    -1: as late as possible (directly before the first of `later`); -2: as early as possible; k: position k of the body.
    """
    body = [op.operation for op in loop.body.operations]
    first = max((body.index(walk.child_towards(loop.op, b.op)) + 1 for b in earlier), default=0)
    last = min((body.index(walk.child_towards(loop.op, b.op)) for b in later), default=len(body) - 1)
    if first > last:
        refuse(
            loop, f"in the body of loop {loop.name} a block that must run after this one comes before: no position fits"
        )
    if index == -1:
        return body[last]
    if index == -2:
        return body[first]
    check(
        first <= index <= last,
        loop,
        f"position {index} in the body of loop {loop.name} does not fit; it must lie in [{first}, {last}]",
    )
    return body[index]


def blocks_under(loop: Loop, blocks: Sequence[Block]) -> list[Block]:
    return [b for b in blocks if is_inside(b.op, loop.op)]
