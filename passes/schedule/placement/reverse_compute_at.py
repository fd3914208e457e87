"""reverse_compute_at: a consumer runs where its producers have just computed what it reads."""

from __future__ import annotations

from collections.abc import Sequence

import islpy as isl
from mlir import ir

from tir_mlir.dialect.analysis import loop_names, relations_of
from tir_mlir.dialect.analysis.accesses import accesses
from tir_mlir.dialect.diagnostics import Counterexample, Element, Iteration, ScheduleError
from tir_mlir.dialect.ir import Block, Buffer, Index, Iter, Loop, func_of, is_inside, only_reads
from tir_mlir.dialect.presburger import dim_type, only_where, question, sets, sizes_without, smallest_point
from tir_mlir.passes.schedule.edits import keeps_region_order
from tir_mlir.passes.schedule.inlining.reverse_compute_inline import reverse_compute_inline
from tir_mlir.passes.schedule.legality import (
    check_complete_or_reduction,
    check_rising,
    children,
    consumers,
    producers,
    reads_of,
    scope_of,
    touched,
    writes_of,
)
from tir_mlir.passes.schedule.placement import needed_region
from tir_mlir.passes.schedule.placement.location import Mark, move_to_mark
from tir_mlir.passes.schedule.placement.stable_inputs import check_lasts, shared_loops
from tir_mlir.passes.schedule.registry import check, primitive, refuse


@primitive("reverse_compute_at")
@keeps_region_order
def reverse_compute_at(block: Block, loop: Loop | Mark, preserve_unit_loops: bool = False, index: int = -1) -> None:
    """Move a consumer under a loop of its producers, over just what has been computed there.

        for i_0, i_1 in T.grid(4, 16):             for i_0 in range(4):
            with T.block("P"): P[...] = ...            for i_1 in range(16):
        for i in range(64):                  ->            with T.block("P"): P[...] = ...
            with T.block("C"): C[i] = P[i] + 1         for ax0 in range(16):
                                                           with T.block("C"): C[i_0 * 16 + ax0] = ...

    Every instance of the block runs after all that it reads is final. New loops ax0, ax1, ... are serial. A reduction
    runs whole where all it reads is there; else each iteration of the loop adds the part that it has computed.

    Requires: the block is complete or a reduction that runs in full; all its producers are beneath `loop` and finished
    there; nothing else reads or writes its result before its old place. `index`: -1 at the end of the loop's body, -2
    right after the last producer, k: position k. A mark of `sample_compute_location` in place of a loop merges the
    block into its producer or leaves it.
    """
    if isinstance(loop, Mark):
        return move_to_mark(block, loop, reverse_compute_inline)
    found, anchor = _plan(block, loop, index)

    needed_region.move(block, loop, found, anchor, preserve_unit_loops)


@only_reads
def _plan(block: Block, loop: Loop, index: int) -> tuple[list[needed_region.Span], ir.Operation]:
    """All checks: what to run under the loop, and before which op."""
    needed_region.check_place(block, loop)
    check_complete_or_reduction(block)
    check_rising(block)
    needed_region.check_whole(block)
    makers = producers(block)
    text = f'block "{block.name}" has no producer in its scope; there is nothing to compute it at'
    check(bool(makers), block, text, "compute_at puts a block under a loop of one that reads its result")
    for maker in makers:
        if not is_inside(maker.op, loop.op):
            refuse(
                maker,
                f'the producer "{maker.name}" of block "{block.name}" is not beneath loop {loop.name}; choose a loop'
                " around all producers",
            )
        needed_region.check_finished(maker, loop)
    made = {b for m in makers for b in writes_of(m)}
    _check_result_unused(block)
    users = needed_region.under(loop, consumers(block))
    inputs = [b for b in reads_of(block) if b in made]
    found = _available(block, loop, inputs)
    needed_region.check_none_gained(block, loop, found)
    try:
        for maker in makers:
            check_lasts(maker)
    except ScheduleError:
        if any(s.iter.kind == "R" and not s.extent.same(s.iter.extent) for s in found):
            raise
        _check_last_written(block, loop, inputs, found)
    return found, needed_region.insertion(loop, makers, users, index)


def _check_result_unused(block: Block) -> None:
    """Refuse unless whatever else touches what the block writes comes after it."""
    order = children(scope_of(block))
    needed_region.check_only_blocks(block, order[order.index(block) :])


def _available(block: Block, loop: Loop, inputs: list) -> list[needed_region.Span]:
    """The iter values all of whose inputs are written by the end of one iteration of `loop`.

    Whole sums where that can be; else each iteration adds the part that is there.
    """
    spatial = [i for i in block.iters if i.kind != "R"]
    try:
        return _spans(block, loop, inputs, spatial)
    except ScheduleError:
        if len(spatial) == len(block.iters) or not _parts_are_read(block, inputs):
            raise
    found = _spans(block, loop, inputs, block.iters)
    _check_parts(block, loop, found)
    return found


def _spans(block: Block, loop: Loop, inputs: list, iters: list[Iter]) -> list[needed_region.Span]:
    """What can run under the loop of some iters, and all of the others."""
    found = None
    if len(inputs) == 1 and not Buffer(inputs[0]).is_param:  # of a parameter the caller may have written a part
        written = [a for a in accesses(loop.op) if a.buffer == inputs[0] and a.is_write]
        own = [a for a in touched(block, inputs[0]) if not a.is_write]
        found = needed_region.plain_spans(written, own, loop, iters, dense=True)
    if found is None:
        found = _exactly_available(block, loop, inputs, iters)
    by_name = {s.iter.name: s for s in found}
    return [by_name.get(i.name) or needed_region.Span(i, i.min, i.extent, False) for i in block.iters]


def _parts_are_read(block: Block, inputs: list) -> bool:
    """Whether each reduce iter tells which part of an input it takes."""
    used = {v for a in accesses(block.op) if a.buffer in inputs and not a.is_write for i in a.mins for v in i.values}
    return all(i.var in used for i in block.iters if i.kind == "R")


def _check_parts(block: Block, loop: Loop, found: list[needed_region.Span]) -> None:
    """Refuse unless each part of a sum is added once, the first part (which starts it) first, the others as before."""
    place = needed_region.Place.of(loop)
    shared = len(shared_loops(block.op, loop.op, func_of(block.op)))
    fixed = [*range(shared), *(shared + n for n, i in enumerate(block.iters) if i.kind != "R")]
    with question(f'the order in which the parts of block "{block.name}" are added under loop {loop.name}'):
        outer = place.dom.map([Index.of(v) for v in place.dims[:shared]])
        runs = outer.flat_range_product(needed_region.executed(place, found))
        twice = not runs.is_injective()
        later = isl.Map.lex_gt(place.dom.set.get_space()).intersect_domain(place.dom.set).intersect_range(place.dom.set)
        falling = runs.reverse().apply_range(later).apply_range(runs)
        for level in fixed:
            falling = falling.equate(dim_type.in_, level, dim_type.out, level)
        rising = falling.intersect(isl.Map.lex_lt(runs.range().get_space())).is_empty()
        again = needed_region.executed(place, found).subtract(_ran(block, loop, place, block.iters))
        example = None if again.is_empty() else _first(again.range(), block, block.iters)
    if example is not None:
        text = f'under loop {loop.name} some iterations of block "{block.name}" would run where they did not before'
        refuse(loop, f"{text}, as {example}", counterexample=example)
    names = ", ".join(i.name for i in block.iters if i.kind == "R")
    check(not twice, loop, f'under loop {loop.name} some parts of the sum of block "{block.name}" would be added twice')
    check(
        rising,
        loop,
        f'under loop {loop.name} the sum of block "{block.name}" would not run over {names} in rising order: its init'
        " would not come first; choose a loop further out",
    )


def _exactly_available(block: Block, loop: Loop, inputs: list, iters: list[Iter]) -> list[needed_region.Span]:
    place = needed_region.Place.of(loop)
    with question(f'what block "{block.name}" can compute under loop {loop.name}'):
        needed = loose = None
        for buffer in inputs:
            written = [t for t in relations_of(loop.op, buffer) if t.access.is_write]
            own = [t for t in relations_of(block.op, buffer) if not t.access.is_write]
            for exact in (True, False):
                elements = needed_region.elements(place, written, exact)
                part = elements.apply_range(needed_region.iter_map(block, own, iters, exact).reverse())
                if exact:
                    needed = part if needed is None else needed.intersect(part)
                else:
                    loose = part if loose is None else loose.intersect(part)
        assert needed is not None and loose is not None
        if shared_loops(block.op, loop.op, func_of(block.op)):
            needed = needed.intersect(_ran(block, loop, place, iters))
        around = sets.domain(loop.body.operations[0].operation)
        found = needed_region.spans(place, needed, loose, iters, around)
        runs = needed_region.executed(place, found)
        for buffer in inputs:
            _check_ready(block, loop, place, buffer, runs, iters)
        lost = _ran(block, loop, place, iters).range().subtract(runs.range())
        example = _first(lost, block, iters) if iters and not lost.is_empty() else None
    if example is not None:
        text = f'under loop {loop.name} some iterations of block "{block.name}" would not run at all, as {example}'
        way = f'compute_at of what it reads, at a loop of block "{block.name}", puts the two together the other way'
        refuse(loop, text, counterexample=example, fix=way)
    return found


def _first(points: isl.Set, block: Block, iters: Sequence[Iter]) -> Counterexample:
    """The smallest iteration of a set of them."""
    point = smallest_point(points) or []
    return Counterexample((Iteration.of(block.name, [i.name for i in iters], point[len(point) - len(iters) :]),))


def _ran(block: Block, loop: Loop, place: needed_region.Place, iters: list[Iter]) -> isl.Map:
    """{ loops around the place -> iter values } of what runs at the old place, in the same iteration of the loops that
    are around both places."""
    return needed_region.ran(block, place, iters, len(shared_loops(block.op, loop.op, func_of(block.op))))


def _check_last_written(block: Block, loop: Loop, inputs: list, found: list[needed_region.Span]) -> None:
    """Refuse unless the moved block sees only final values, and runs wherever it ran before.

    Needed where the same element is computed more than once, with other values: in each iteration of the loops around
    both places, every instance must run after the last write of all that it reads.
    """
    place = needed_region.Place.of(loop)
    spatial = [i for i in block.iters if i.kind != "R"]
    spans = [s for s in found if s.iter.kind != "R"]
    shared = len(shared_loops(block.op, loop.op, func_of(block.op)))
    with question(f'whether block "{block.name}" would see the last values under loop {loop.name}'):
        runs = needed_region.executed(place, spans)
        order = isl.Map.lex_lt(place.dom.set.get_space()).intersect_domain(place.dom.set)
        for level in range(shared):
            order = order.equate(dim_type.in_, level, dim_type.out, level)
        for buffer in inputs:
            written = [t for t in relations_of(loop.op, buffer) if t.access.is_write]
            own = [t for t in relations_of(block.op, buffer) if not t.access.is_write]
            again = order.apply_range(needed_region.elements(place, written, True))
            reads = runs.apply_range(needed_region.iter_map(block, own, spatial, True))
            early = reads.intersect(again)
            if not early.is_empty():
                element, at, example = _shown(early, buffer, place, loop, block)
                text = f'block "{block.name}" reads {element}, which is written again after {at}'
                refuse(loop, text, counterexample=example)
        before = _ran(block, loop, place, spatial)
        gained = runs.subtract(before)
        inner = dim_type.in_, shared, len(place.dims) - shared
        lost = before.project_out(*inner).subtract(runs.project_out(*inner))
        is_lost, is_gained = bool(spatial) and not lost.is_empty(), bool(spatial) and not gained.is_empty()
        wrong = lost if is_lost else gained
        example = _first(wrong.range(), block, spatial) if is_lost or is_gained else None
    if example is not None:
        changed = "would not run at all" if is_lost else "would run where they did not before"
        text = f'under loop {loop.name} some iterations of block "{block.name}" {changed}, as {example}'
        refuse(loop, f"{text}{only_where(wrong, loop.op)}", counterexample=example)


def _shown(
    points: isl.Map, buffer: ir.Value, place: needed_region.Place, loop: Loop, block: Block
) -> tuple[str, str, Counterexample]:
    """The smallest point of { loops -> element }: the element and where, as text, and both."""
    point = smallest_point(sets.flatten(points)) or []
    rank = Buffer(buffer).rank
    element = Element.of(Buffer(buffer).name, point[len(point) - rank :])
    names = loop_names(loop.body.operations[0].operation)
    values = point[len(point) - rank - len(place.dims) : len(point) - rank]
    unless = sizes_without(points, loop.op)
    shown = f"{element}{f' (unless {unless})' if unless else ''}"
    at = Iteration.of(block.name, names, values)
    example = Counterexample((at,), element, unless=unless)
    return shown, ", ".join(f"{n} = {v}" for n, v in at.values), example


def _check_ready(block: Block, loop: Loop, place: needed_region.Place, buffer, runs: isl.Map, iters) -> None:
    """Refuse when an instance would run before all that it reads is written."""
    written = [t for t in relations_of(loop.op, buffer) if t.access.is_write]
    own = [t for t in relations_of(block.op, buffer) if not t.access.is_write]
    now = needed_region.elements(place, written, True)
    reads = runs.apply_range(needed_region.iter_map(block, own, iters, True))
    late = reads.subtract(now)
    if late.is_empty():
        return
    earlier = isl.Map.lex_ge(place.dom.set.get_space()).intersect_domain(place.dom.set).apply_range(now)
    late = reads.subtract(earlier)
    if late.is_empty():
        return
    element, at, example = _shown(late, buffer, place, loop, block)
    refuse(
        loop,
        f'block "{block.name}" reads {element}, which is not written yet at {at}; choose a loop further out',
        counterexample=example,
    )
