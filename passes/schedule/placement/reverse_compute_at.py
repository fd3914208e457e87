"""reverse_compute_at: move a consumer under a loop of its producers."""

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
    accesses_to,
    check_complete_or_reduction,
    check_reduction_order,
    children,
    consumers,
    producers,
    reads_of,
    scope_of,
    writes_of,
)
from tir_mlir.passes.schedule.placement import needed_region
from tir_mlir.passes.schedule.placement.location import SpecialLocation, move_to_special
from tir_mlir.passes.schedule.placement.stable_inputs import check_results_stable, shared_loops
from tir_mlir.passes.schedule.registry import check, primitive, refuse


@primitive("reverse_compute_at")
@keeps_region_order
def reverse_compute_at(
    block: Block, loop: Loop | SpecialLocation, preserve_unit_loops: bool = False, index: int = -1
) -> None:
    """Move a consumer under a loop of its producers, over what has been computed there.

        for i_0, i_1 in T.grid(4, 16):             for i_0 in range(4):
            with T.block("P"): P[...] = ...            for i_1 in range(16):
        for i in range(64):                  ->            with T.block("P"): P[...] = ...
            with T.block("C"): C[i] = P[i] + 1         for ax0 in range(16):
                                                           with T.block("C"): C[i_0 * 16 + ax0] = ...

    Every instance of the block runs after all its inputs are final. The new loops ax0, ax1, ... are serial. A reduction
    runs in full if all its inputs are available; else each iteration of the loop accumulates the part that it has
    computed.

    Requires: the block is a complete block or a full reduction; all its producers are under `loop` and finished there;
    nothing else accesses its result before its old position. `index`: -1 at the end of the loop's body, -2 directly
    after the last producer, k: position k. A location from `sample_compute_location` in place of a loop merges the
    block into its producer or leaves it.
    """
    if isinstance(loop, SpecialLocation):
        return move_to_special(block, loop, reverse_compute_inline)
    found, anchor = _plan(block, loop, index)

    needed_region.move(block, loop, found, anchor, preserve_unit_loops)


@only_reads
def _plan(block: Block, loop: Loop, index: int) -> tuple[list[needed_region.IterSpan], ir.Operation]:
    """All checks: what to run under the loop, and before which op."""
    needed_region.check_target(block, loop)
    check_complete_or_reduction(block)
    check_reduction_order(block)
    needed_region.check_full_reduction(block)
    makers = producers(block)
    text = f'block "{block.name}" has no producer in its scope to compute it at'
    check(bool(makers), block, text, "compute_at moves a block under a loop of a consumer")
    for maker in makers:
        if not is_inside(maker.op, loop.op):
            refuse(
                maker,
                f'the producer "{maker.name}" of block "{block.name}" is not under loop {loop.name}; '
                "choose a loop around all producers",
            )
        needed_region.check_finished(maker, loop)
    made = {b for m in makers for b in writes_of(m)}
    _check_result_unused(block)
    users = needed_region.blocks_under(loop, consumers(block))
    inputs = [b for b in reads_of(block) if b in made]
    found = _available(block, loop, inputs)
    needed_region.check_no_new_iterations(block, loop, found)
    try:
        for maker in makers:
            check_results_stable(maker)
    except ScheduleError:
        if any(s.iter.kind == "R" and not s.extent.same(s.iter.extent) for s in found):
            raise
        _check_last_written(block, loop, inputs, found)
    return found, needed_region.insertion_point(loop, makers, users, index)


def _check_result_unused(block: Block) -> None:
    """Refuse unless all other accesses to the block's results come after it."""
    order = children(scope_of(block))
    needed_region.check_only_blocks(block, order[order.index(block) :])


def _available(block: Block, loop: Loop, inputs: list) -> list[needed_region.IterSpan]:
    """The iter values whose inputs are all written by the end of one iteration of `loop`.

    Full reductions if possible; else each iteration accumulates the available part.
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


def _spans(block: Block, loop: Loop, inputs: list, iters: list[Iter]) -> list[needed_region.IterSpan]:
    """The spans of `iters` that can run under the loop, and the full domains of the other iters."""
    found = None
    if len(inputs) == 1 and not Buffer(inputs[0]).is_param:  # the caller may have written part of a parameter
        written = [a for a in accesses(loop.op) if a.buffer == inputs[0] and a.is_write]
        own = [a for a in accesses_to(block, inputs[0]) if not a.is_write]
        found = needed_region.box_spans(written, own, loop, iters, dense=True)
    if found is None:
        found = _exactly_available(block, loop, inputs, iters)
    by_name = {s.iter.name: s for s in found}
    return [by_name.get(i.name) or needed_region.IterSpan(i, i.min, i.extent, False) for i in block.iters]


def _parts_are_read(block: Block, inputs: list) -> bool:
    """Whether each reduce iter determines which part of an input is read."""
    used = {v for a in accesses(block.op) if a.buffer in inputs and not a.is_write for i in a.mins for v in i.values}
    return all(i.var in used for i in block.iters if i.kind == "R")


def _check_parts(block: Block, loop: Loop, found: list[needed_region.IterSpan]) -> None:
    """Refuse unless each part of a reduction is accumulated once: first the part with the init, then the others in
    order.
    """
    place = needed_region.LoopSpace.of(loop)
    shared = len(shared_loops(block.op, loop.op, func_of(block.op)))
    fixed = [*range(shared), *(shared + n for n, i in enumerate(block.iters) if i.kind != "R")]
    with question(f'the order in which block "{block.name}" accumulates its parts under loop {loop.name}'):
        outer = place.dom.map([Index.of(v) for v in place.dims[:shared]])
        runs = outer.flat_range_product(needed_region.run_by_spans(place, found))
        twice = not runs.is_injective()
        later = isl.Map.lex_gt(place.dom.set.get_space()).intersect_domain(place.dom.set).intersect_range(place.dom.set)
        falling = runs.reverse().apply_range(later).apply_range(runs)
        for level in fixed:
            falling = falling.equate(dim_type.in_, level, dim_type.out, level)
        rising = falling.intersect(isl.Map.lex_lt(runs.range().get_space())).is_empty()
        again = needed_region.run_by_spans(place, found).subtract(_run_before(block, loop, place, block.iters))
        example = None if again.is_empty() else _first(again.range(), block, block.iters)
    if example is not None:
        text = f'under loop {loop.name} some iterations of block "{block.name}" would run where they did not before'
        refuse(loop, f"{text}, as {example}", counterexample=example)
    names = ", ".join(i.name for i in block.iters if i.kind == "R")
    check(
        not twice,
        loop,
        f'under loop {loop.name} some parts of the reduction of block "{block.name}" would be accumulated twice',
    )
    check(
        rising,
        loop,
        f'under loop {loop.name} the reduction of block "{block.name}" would not run over {names} '
        "in increasing order: its init would not come first; choose an outer loop",
    )


def _exactly_available(block: Block, loop: Loop, inputs: list, iters: list[Iter]) -> list[needed_region.IterSpan]:
    place = needed_region.LoopSpace.of(loop)
    with question(f'what block "{block.name}" can compute under loop {loop.name}'):
        needed = loose = None
        for buffer in inputs:
            written = [t for t in relations_of(loop.op, buffer) if t.access.is_write]
            own = [t for t in relations_of(block.op, buffer) if not t.access.is_write]
            for exact in (True, False):
                elements = needed_region.accessed_under(place, written, exact)
                part = elements.apply_range(needed_region.iter_map(block, own, iters, exact).reverse())
                if exact:
                    needed = part if needed is None else needed.intersect(part)
                else:
                    loose = part if loose is None else loose.intersect(part)
        assert needed is not None and loose is not None
        if shared_loops(block.op, loop.op, func_of(block.op)):
            needed = needed.intersect(_run_before(block, loop, place, iters))
        around = sets.domain(loop.body.operations[0].operation)
        found = needed_region.needed_spans(place, needed, loose, iters, around)
        runs = needed_region.run_by_spans(place, found)
        for buffer in inputs:
            _check_ready(block, loop, place, buffer, runs, iters)
        lost = _run_before(block, loop, place, iters).range().subtract(runs.range())
        example = _first(lost, block, iters) if iters and not lost.is_empty() else None
    if example is not None:
        text = f'under loop {loop.name} some iterations of block "{block.name}" would not run at all, as {example}'
        way = f'compute_at of its producers, at a loop of block "{block.name}", joins them the other way'
        refuse(loop, text, counterexample=example, fix=way)
    return found


def _first(points: isl.Set, block: Block, iters: Sequence[Iter]) -> Counterexample:
    """The lexicographically smallest iteration of a set."""
    point = smallest_point(points) or []
    return Counterexample((Iteration.of(block.name, [i.name for i in iters], point[len(point) - len(iters) :]),))


def _run_before(block: Block, loop: Loop, place: needed_region.LoopSpace, iters: list[Iter]) -> isl.Map:
    """{ loops of `place` -> iter values } of the instances at the old position, in the same iteration of the common
    loops.
    """
    return needed_region.run_before(block, place, iters, len(shared_loops(block.op, loop.op, func_of(block.op))))


def _check_last_written(block: Block, loop: Loop, inputs: list, found: list[needed_region.IterSpan]) -> None:
    """Refuse unless the moved block reads only final values, and runs exactly the old iterations.

    Needed if an element is computed more than once, with different values: in each iteration of the common loops, every
    instance must run after the last write of all its inputs.
    """
    place = needed_region.LoopSpace.of(loop)
    spatial = [i for i in block.iters if i.kind != "R"]
    spans = [s for s in found if s.iter.kind != "R"]
    shared = len(shared_loops(block.op, loop.op, func_of(block.op)))
    with question(f'whether block "{block.name}" would read final values under loop {loop.name}'):
        runs = needed_region.run_by_spans(place, spans)
        order = isl.Map.lex_lt(place.dom.set.get_space()).intersect_domain(place.dom.set)
        for level in range(shared):
            order = order.equate(dim_type.in_, level, dim_type.out, level)
        for buffer in inputs:
            written = [t for t in relations_of(loop.op, buffer) if t.access.is_write]
            own = [t for t in relations_of(block.op, buffer) if not t.access.is_write]
            again = order.apply_range(needed_region.accessed_under(place, written, True))
            reads = runs.apply_range(needed_region.iter_map(block, own, spatial, True))
            early = reads.intersect(again)
            if not early.is_empty():
                element, at, example = _describe(early, buffer, place, loop, block)
                text = f'block "{block.name}" reads {element}, which is written again after {at}'
                refuse(loop, text, counterexample=example)
        before = _run_before(block, loop, place, spatial)
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


def _describe(
    points: isl.Map, buffer: ir.Value, place: needed_region.LoopSpace, loop: Loop, block: Block
) -> tuple[str, str, Counterexample]:
    """The smallest point of { loops -> element }: the element and the iteration as text, and as a counterexample."""
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


def _check_ready(block: Block, loop: Loop, place: needed_region.LoopSpace, buffer, runs: isl.Map, iters) -> None:
    """Refuse when an instance would run before one of its inputs is written."""
    written = [t for t in relations_of(loop.op, buffer) if t.access.is_write]
    own = [t for t in relations_of(block.op, buffer) if not t.access.is_write]
    now = needed_region.accessed_under(place, written, True)
    reads = runs.apply_range(needed_region.iter_map(block, own, iters, True))
    late = reads.subtract(now)
    if late.is_empty():
        return
    earlier = isl.Map.lex_ge(place.dom.set.get_space()).intersect_domain(place.dom.set).apply_range(now)
    late = reads.subtract(earlier)
    if late.is_empty():
        return
    element, at, example = _describe(late, buffer, place, loop, block)
    refuse(
        loop,
        f'block "{block.name}" reads {element}, which is not written yet at {at}; choose an outer loop',
        counterexample=example,
    )
