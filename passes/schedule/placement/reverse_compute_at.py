"""reverse_compute_at: move a consumer under a loop of its producers."""

from __future__ import annotations

import islpy as isl
from mlir import ir

from tir_mlir.dialect.analysis import relations_of
from tir_mlir.dialect.analysis.accesses import accesses, accesses_to
from tir_mlir.dialect.analysis.certainty import require_certain
from tir_mlir.dialect.diagnostics import ScheduleError
from tir_mlir.dialect.ir import Block, Buffer, Index, Iter, Loop, func_of, is_inside, only_reads
from tir_mlir.dialect.presburger import dim_type, question, sets
from tir_mlir.passes.schedule.edits import keeps_region_order
from tir_mlir.passes.schedule.inlining.reverse_compute_inline import reverse_compute_inline
from tir_mlir.passes.schedule.legality import (
    check_reduction_order,
    children_using,
    common_ancestor,
    consumers,
    full_iters,
    is_ahead,
    producers,
    reads_of,
    runs_before,
    scope_of,
    writers,
    writes_of,
)
from tir_mlir.passes.schedule.legality.stable_inputs import check_results_stable, shared_loops
from tir_mlir.passes.schedule.placement import move_under_loop, needed_region
from tir_mlir.passes.schedule.placement.digit_spans import filled_spans, run_everything
from tir_mlir.passes.schedule.placement.final_values import (
    READY,
    accesses_between,
    check_last_runs,
    describe_read,
    first_iteration,
)
from tir_mlir.passes.schedule.placement.move_under_loop import (
    SpecialLocation,
    check_sums_inside,
    check_unfed,
    move_to_special,
    whole_domain,
)
from tir_mlir.passes.schedule.placement.recurrences import check_repeatable
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

    Every instance of the block runs after all its inputs are final; under a loop that computes an input several times,
    as that of a producer's reduction, it also runs on partial sums and what depends on them, and its last run
    overwrites what they gave (a `ScheduleWarning` says so). The new loops ax0, ax1,
    ... are serial. A reduction runs in full if all its inputs are available; else each iteration of the loop
    accumulates the part that it has computed. A block without producers runs in full in each iteration.

    Requires: the block is a complete block, a full reduction, or a recurrence as in compute_at; its producers are under
    `loop`, except that other inputs may be complete before the nest around it; each instance runs there after the last
    write of its inputs; on partial sums it neither divides integers nor loads at an index from data; nothing else
    accesses its result before its old position; no loop around both positions runs part of its reduction; no condition
    on data is around either position.
    Without producers: its inputs do not change, and `loop` always runs, before all consumers. `index`: -1 at the end of
    the loop's body, -2 directly after the last producer, k: position k. A location from `sample_compute_location`
    instead of a loop merges the block into its producer or leaves it.
    """
    if isinstance(loop, SpecialLocation):
        return move_to_special(block, loop, reverse_compute_inline)
    spans, anchor = _plan(block, loop, index)
    needed_region.note_spans(block, loop, spans, "its inputs are written there, and final in its last run")
    move_under_loop.move(block, loop, spans, anchor, preserve_unit_loops)


def _producers_under(block: Block, loop: Loop) -> list[Block]:
    """The producers under the loop. Refuses others, unless they end before the nest around it and share no result."""
    makers = producers(block)
    inner_makers = [m for m in makers if is_inside(m.op, loop.op)]
    buffers_written = {b for m in inner_makers for b in writes_of(m)} | set(writes_of(block))
    nest = common_ancestor(loop.op, block.op)[1]
    for maker in makers:
        if maker in inner_makers or (
            inner_makers and runs_before(maker.op, nest) and not buffers_written & set(writes_of(maker))
        ):
            continue
        refuse(
            maker,
            f'the producer "{maker.name}" of block "{block.name}" is not under loop {loop.name}; '
            "reverse_compute_at requires all the producer(s) under the loop, or before the nest around it",
            fix="choose a loop around all producers",
        )
    return inner_makers


def _check_later_writers(block: Block, loop: Loop) -> None:
    """Refuse a writer of an input that follows the block in a loop around both: it runs before later iterations of the
    block, which it would no longer do unless `loop` is ahead of it in that loop."""
    scope = scope_of(block)
    for buffer in reads_of(block):
        for writer in (w for w in writers(scope, buffer) if w != block and not is_ahead(w, block)):
            repeated = [lp for lp in shared_loops(writer.op, block.op, scope) if lp.const_extent != 1]
            if not repeated or (is_inside(loop.op, repeated[0].op) and runs_before(loop.op, writer.op)):
                continue
            name = repeated[0].name
            refuse(
                writer,
                f'block "{writer.name}" follows block "{block.name}" in loop {name}, whose later iterations read '
                f"what it writes to {Buffer(buffer).name}; under loop {loop.name} they would not",
                fix=f'choose a loop in loop {name} that ends before block "{writer.name}"',
            )


@only_reads
def _plan(block: Block, loop: Loop, index: int) -> tuple[list[needed_region.IterSpan], ir.Operation]:
    """All checks: what to run under the loop, and before which op."""
    needed_region.check_target(block, loop)
    check_repeatable(block)
    check_reduction_order(block)
    needed_region.check_full_reduction(block)
    _check_later_writers(block, loop)
    makers = _producers_under(block, loop)
    produced = {b for m in makers for b in writes_of(m)}
    _check_result_unused(block)
    users = move_under_loop.blocks_under(loop, consumers(block))
    if not makers:
        check_unfed(block, loop)
        spans = whole_domain(block)
        check_sums_inside(block, loop, spans)
        needed_region.check_no_new_iterations(block, loop, spans)
        return spans, move_under_loop.insertion_point(loop, makers, users, index)
    inputs = [b for b in reads_of(block) if b in produced]
    spans = _available_spans(block, loop, inputs)
    check_sums_inside(block, loop, spans)
    needed_region.check_no_new_iterations(block, loop, spans)
    _check_final(block, loop, makers, inputs, spans)
    return spans, move_under_loop.insertion_point(loop, makers, users, index)


def _check_final(
    block: Block, loop: Loop, makers: list[Block], inputs: list, spans: list[needed_region.IterSpan]
) -> None:
    """Refuse unless the moved block reads final values, at least in its last run."""
    in_parts = any(s.iter.kind == "R" and not s.extent.is_equal_to(s.iter.extent) for s in spans)
    unfinished = next((m for m in makers if needed_region.unfinished_iter(m, loop) is not None), None)
    if unfinished is not None:
        if in_parts:
            needed_region.check_finished(unfinished, loop)
        check_last_runs(block, loop, inputs, spans, unfinished)
        return
    for maker in makers:
        try:
            check_results_stable(maker)
        except ScheduleError:
            if in_parts:
                raise
            check_last_runs(block, loop, inputs, spans, maker)
            return


def _check_result_unused(block: Block) -> None:
    """Refuse unless all other accesses to the block's results come after it."""
    order = children_using(scope_of(block), writes_of(block))
    if block in order:  # a T.assume on data has no results
        needed_region.check_only_blocks(block, order[order.index(block) :])


def _available_spans(block: Block, loop: Loop, inputs: list) -> list[needed_region.IterSpan]:
    """The iter values whose inputs are all written by the end of one iteration of `loop`.

    Full reductions if possible; else each iteration accumulates the available part.
    """
    full = {i.name for i in full_iters(block)}
    spatial = [i for i in block.iters if i.name not in full]
    try:
        return _spans(block, loop, inputs, spatial)
    except ScheduleError:
        if {i.kind for i in block.iters if i.name in full} != {"R"} or not _parts_are_read(block, inputs):
            raise
    spans = _spans(block, loop, inputs, block.iters)
    _check_parts(block, loop, spans)
    return spans


def _spans(block: Block, loop: Loop, inputs: list, iters: list[Iter]) -> list[needed_region.IterSpan]:
    """The spans of `iters` that can run under the loop, and the full domains of the other iters."""
    spans = None
    if len(inputs) == 1 and not Buffer(inputs[0]).is_param:  # the caller may have written part of a parameter
        written = accesses_to(inputs[0], loop.op, True)
        reads = accesses_to(inputs[0], block.op, False)
        spans = needed_region.box_spans(written, reads, loop, iters, dense=True)
    if spans is None or not _ran_before(block, loop, iters, spans):
        spans = filled_spans(block, loop, inputs, iters) or _exact_spans(block, loop, inputs, iters)
    by_name = {s.iter.name: s for s in spans}
    return [by_name.get(i.name) or needed_region.IterSpan(i, i.min, i.extent, False) for i in block.iters]


def _ran_before(block: Block, loop: Loop, iters: list[Iter], spans: list[needed_region.IterSpan]) -> bool:
    """Whether all that the spans run ran in the same iteration of the common loops before."""
    if not iters or not shared_loops(block.op, loop.op, func_of(block.op)):
        return True
    space = needed_region.LoopSpace.from_loop(loop)
    with question(f'what block "{block.name}" ran before under loop {loop.name}'):
        return needed_region.run_by_spans(space, spans).is_subset(_run_before(block, loop, space, iters))


def _parts_are_read(block: Block, inputs: list) -> bool:
    """Whether each reduce iter determines which part of an input is read."""
    index_values = {
        v for a in accesses(block.op) if a.buffer in inputs and not a.is_write for i in a.mins for v in i.values
    }
    return all(i.var in index_values for i in block.iters if i.kind == "R")


def _check_parts(block: Block, loop: Loop, spans: list[needed_region.IterSpan]) -> None:
    """Refuse unless each part of a reduction is accumulated once: first the part with the init, then the others in
    order.
    """
    space = needed_region.LoopSpace.from_loop(loop)
    shared = len(shared_loops(block.op, loop.op, func_of(block.op)))
    fixed = [*range(shared), *(shared + n for n, i in enumerate(block.iters) if i.kind != "R")]
    with question(f'the order in which block "{block.name}" accumulates its parts under loop {loop.name}'):
        outer = space.dom.map([Index.from_value(v) for v in space.dims[:shared]])
        runs = outer.flat_range_product(needed_region.run_by_spans(space, spans))
        twice = not runs.is_injective()
        later = isl.Map.lex_gt(space.dom.set.get_space()).intersect_domain(space.dom.set).intersect_range(space.dom.set)
        falling = runs.reverse().apply_range(later).apply_range(runs)
        for level in fixed:
            falling = falling.equate(dim_type.in_, level, dim_type.out, level)
        rising = falling.intersect(isl.Map.lex_lt(runs.range().get_space())).is_empty()
        new_runs = needed_region.run_by_spans(space, spans).subtract(_run_before(block, loop, space, block.iters))
        example = None if new_runs.is_empty() else first_iteration(new_runs.range(), block, block.iters)
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


def _exact_spans(block: Block, loop: Loop, inputs: list, iters: list[Iter]) -> list[needed_region.IterSpan]:
    space = needed_region.LoopSpace.from_loop(loop)
    with question(f'what block "{block.name}" can compute under loop {loop.name}'):
        needed = loose = None
        for buffer in inputs:
            written = [t for t in relations_of(loop.op, buffer) if t.access.is_write]
            reads = [t for t in relations_of(block.op, buffer) if not t.access.is_write]
            for exact in (True, False):
                elements = needed_region.accessed_under(space, written, exact)
                part = elements.apply_range(needed_region.iter_map(block, reads, iters, exact).reverse())
                if exact:
                    needed = part if needed is None else needed.intersect(part)
                else:
                    loose = part if loose is None else loose.intersect(part)
        assert needed is not None and loose is not None
        if shared_loops(block.op, loop.op, func_of(block.op)):
            needed = needed.intersect(_run_before(block, loop, space, iters))
            loose = loose.intersect(_run_before(block, loop, space, iters, guards=False))
        body_domain = sets.domain(loop.body.operations[0].operation)
        spans = needed_region.needed_spans(space, needed, loose, iters, body_domain)
        runs = needed_region.run_by_spans(space, spans)
        for buffer in inputs:
            _check_ready(block, loop, space, buffer, runs, iters)
        example = None
        if iters and not run_everything(loop, spans):
            lost = _run_before(block, loop, space, iters).range().subtract(runs.range())
            example = None if lost.is_empty() else first_iteration(lost, block, iters)
    if example is not None:
        text = f'under loop {loop.name} some iterations of block "{block.name}" would not run at all, as {example}'
        way = f'compute_at of its producers, at a loop of block "{block.name}", joins them the other way'
        refuse(loop, text, counterexample=example, fix=way)
    return spans


def _run_before(
    block: Block, loop: Loop, space: needed_region.LoopSpace, iters: list[Iter], guards: bool = True
) -> isl.Map:
    """{ loops of `space` -> iter values } of the instances at the old position, in the same iteration of the common
    loops.
    """
    shared = len(shared_loops(block.op, loop.op, func_of(block.op)))
    return needed_region.run_before(block, space, iters, shared, guards)


def _check_ready(block: Block, loop: Loop, space: needed_region.LoopSpace, buffer, runs: isl.Map, iters) -> None:
    """Refuse when an instance would run before one of its inputs is written."""
    written = [t for t in relations_of(loop.op, buffer) if t.access.is_write]
    block_reads = [t for t in relations_of(block.op, buffer) if not t.access.is_write]
    written_now = needed_region.accessed_under(space, written, True)
    reads = runs.apply_range(needed_region.iter_map(block, block_reads, iters, True))
    if reads.is_subset(written_now):
        return
    earlier = isl.Map.lex_ge(space.dom.set.get_space()).intersect_domain(space.dom.set).apply_range(written_now)
    late = reads.subtract(earlier)
    if late.is_empty():
        return
    require_certain(accesses_between(loop, block, buffer), READY.format(Buffer(buffer).name))
    element, iteration, example = describe_read(late, buffer, space, loop, block)
    refuse(
        loop,
        f'block "{block.name}" reads {element}, which is not written yet at {iteration}; choose an outer loop',
        counterexample=example,
    )
