"""Moving a block under a loop, and where in its body; used by compute_at and reverse_compute_at.

It runs all of a reduction where it ran only part of it before. A block that no other one feeds (reverse_compute_at) or
reads (compute_at) runs in full under the loop.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import IntEnum
from typing import NoReturn

from mlir import ir

from tir_mlir.dialect.diagnostics import NotProvable
from tir_mlir.dialect.ir import (
    Block,
    Buffer,
    Constraint,
    Index,
    Iter,
    Loop,
    attrs,
    create,
    edit,
    func_of,
    is_inside,
    is_loop,
    loops_above,
    parent_op,
    walk,
)
from tir_mlir.dialect.ir.op_views import AffineIfOp, AffineParallelOp, isa
from tir_mlir.dialect.presburger import dim_type, intervals, only_where, question, sets
from tir_mlir.dialect.verify import left_out
from tir_mlir.passes.schedule.edits import shrink_domains
from tir_mlir.passes.schedule.legality import (
    consumers,
    full_iters,
    nest_top,
    producers,
    reads_of,
    runs_before,
    scope_of,
    writes_of,
)
from tir_mlir.passes.schedule.legality.stable_inputs import check_inputs_stable, shared_loops
from tir_mlir.passes.schedule.placement.final_values import first_iteration, runs_now
from tir_mlir.passes.schedule.placement.needed_region import IterSpan
from tir_mlir.passes.schedule.registry import check, refuse, warn_serial


def move(block: Block, loop: Loop, spans: Sequence[IterSpan], anchor: ir.Operation, keep_units: bool) -> None:
    """Move a block out of its nest to before `anchor`, under loops ax0, ax1, ... over the spans."""
    _move_allocations(block, anchor)
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
            binding = span.low + Index.from_value(new_loop.var)
            ip = create.at_end(new_loop.body)
        bindings.append(binding.simplify())
        if span.guarded:
            guards += [Constraint(binding - span.iter.min), Constraint(span.iter.min + span.iter.extent - 1 - binding)]
        guards += [Constraint(last - binding) for last in span.last]
    box = intervals.enclosing_ranges(list(ip.block.operations)[-1].operation)
    guards = [g for g in dict.fromkeys(guards) if not intervals.at_least_zero(g.index, box)]
    guards = [Constraint(g.index.simplify()) for g in guards]
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


def _move_allocations(block: Block, anchor: ir.Operation) -> None:
    """Move allocations of the block's buffers that follow the nest of `anchor` to before it."""
    for buffer in [*reads_of(block), *writes_of(block)]:
        made = Buffer(buffer).root.value.owner
        if isinstance(made, ir.Block):  # a parameter
            continue
        nest = walk.child_towards(parent_op(made), anchor)
        if walk.position(made) > walk.position(nest):
            edit.move_before(made, nest)


def _erase_empty_nest(top: ir.Operation, stop: ir.Operation) -> None:
    """Erase what is left of the old nest: loops and guards without a block."""
    try:
        if any(isa(op, AffineParallelOp) for op in walk.ops(top)):
            return
    except RuntimeError:
        return
    parent = parent_op(top)
    edit.erase(top)
    empty = (
        parent != stop
        and (is_loop(parent) or isa(parent, AffineIfOp))
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


def check_sums_inside(block: Block, loop: Loop, spans: Sequence[IterSpan]) -> None:
    """Refuse to run a whole reduction in each iteration of a loop that ran one part of it at a time.

    The loop is around the block and its new position. Whatever else is in it has seen the parts so far, and would see
    the whole.
    """
    split = loop_of_parts(block, loop, spans)
    if split is not None:
        refuse_parts(block, loop, *split)


def loop_of_parts(block: Block, loop: Loop, spans: Sequence[IterSpan]) -> tuple[Loop, Iter] | None:
    """The outermost loop around both positions that runs a reduction part by part, and a reduce iter that it drives."""
    names = {i.name for i in full_iters(block)}
    full = [s.iter for s in spans if s.iter.name in names and s.extent.is_equal_to(s.iter.extent)]
    for outer in reversed(shared_loops(block.op, loop.op, func_of(block.op))):
        driven = next((it for it in full if outer.var in it.binding.values), None)
        if driven is not None and outer.const_extent != 1:
            return outer, driven
    return None


def refuse_parts(block: Block, loop: Loop, outer: Loop, driven: Iter) -> NoReturn:
    refuse(
        block,
        f'loop {outer.name}, around both positions, runs the reduction of block "{block.name}" over '
        f"{driven.name} part by part; under loop {loop.name} all of it would run in each iteration",
        fix=f"in the program, let what follows the block in loop {outer.name} come after that loop",
    )


def whole_domain(block: Block) -> list[IterSpan]:
    return [IterSpan(i, i.min, i.extent, False) for i in block.iters]


def check_unfed(block: Block, loop: Loop) -> None:
    """Refuse to move a block without producers to a loop where it would run too late for a consumer, or not at all."""
    check_inputs_stable(block)
    for user in consumers(block):
        check(
            is_inside(user.op, loop.op) or runs_before(loop.op, user.op),
            user,
            f'the consumer "{user.name}" of block "{block.name}" runs before loop {loop.name}, so it would read values '
            "that are not computed yet",
            fix="choose a loop before it, or around all consumers",
        )
    _check_all_run(block, loop)


def check_unread(block: Block, loop: Loop, makers: Sequence[Block]) -> None:
    """Refuse to move a block that nothing reads to a loop where its inputs are not computed yet."""
    for maker in producers(block):
        check(
            maker in makers or runs_before(maker.op, loop.op),
            maker,
            f'the producer "{maker.name}" of block "{block.name}" runs after loop {loop.name}',
            fix="choose a loop after it, or around it",
        )
    loop_vars = {lp.var for lp in (loop, *loops_above(loop.op)) if lp.const_extent != 1}
    for maker in makers:
        moved = next((it.name for it in maker.iters if loop_vars & set(it.binding.values)), None)
        check(
            moved is None,
            maker,
            f'the producer "{maker.name}" of block "{block.name}" has computed only a part in one iteration of loop '
            f"{loop.name}: its iter {moved} moves with the loops around, and all of it would be read there",
            fix="choose a loop after it",
        )


def _check_all_run(block: Block, loop: Loop) -> None:
    """Refuse if the loop has no iteration where the block runs now."""
    shared = len(shared_loops(block.op, loop.op, func_of(block.op)))
    with question(f'whether all iterations of block "{block.name}" run under loop {loop.name}'):
        inner = sets.domain(loop.body.operations[0].operation)
        if not inner.exact:
            raise NotProvable(f"a condition around loop {loop.name} cannot be expressed in isl")
        runs = inner.set.project_out(dim_type.set, shared, len(inner.dims) - shared)
        lost = runs_now(block, block.iters, shared).subtract_domain(runs)
        example = None if lost.is_empty() else first_iteration(lost.range(), block, block.iters)
    if example is not None:
        text = f'under loop {loop.name} some iterations of block "{block.name}" would not run at all, as {example}'
        refuse(loop, f"{text}{only_where(lost, loop.op)}", counterexample=example, fix="choose a loop that always runs")


class SpecialLocation(IntEnum):
    """A compute location that is not a loop: inlined into the consumers (or the producer), or left in place."""

    INLINE = -2
    ROOT = -1


def move_to_special(block: Block, mark: SpecialLocation, inline: Callable[[Block], None]) -> None:
    """Move a block to a special location: inline it, or do nothing."""
    if mark is SpecialLocation.INLINE:
        inline(block)
