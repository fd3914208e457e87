"""compute_at: move a producer under a loop of its consumers.

A reduction may run in full in each iteration of a loop that ran one part of it at a time. What follows the block in the
loop then sees final values where it saw partial sums. The results are the same if each of these instances runs again,
at the same point, after the last part: that run overwrites what the others gave, and it saw final values before, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import islpy as isl
from mlir import ir

from tir_mlir.dialect.analysis import READ, Access, explicit, get_declared_regions, relation_of, relations_of
from tir_mlir.dialect.analysis.accesses import accesses, accesses_to
from tir_mlir.dialect.analysis.certainty import doubt
from tir_mlir.dialect.diagnostics import ScheduleError, emit_remark
from tir_mlir.dialect.ir import (
    Block,
    Buffer,
    Iter,
    Loop,
    attrs,
    common_parent,
    enclosing_block,
    func_of,
    is_inside,
    only_reads,
    symbols_by_name,
    walk,
)
from tir_mlir.dialect.presburger import dim_type, last_values, question, sets
from tir_mlir.dialect.presburger.evaluated_indices import stays_within
from tir_mlir.dialect.verify import covers
from tir_mlir.passes.schedule.edits import keeps_region_order
from tir_mlir.passes.schedule.inlining.compute_inline import compute_inline
from tir_mlir.passes.schedule.legality import (
    check_complete,
    check_reduction_order,
    consumers,
    full_iters,
    is_ahead,
    is_output,
    producers,
    scope_of,
    sharing_threads,
    writes_of,
)
from tir_mlir.passes.schedule.legality.stable_inputs import check_inputs_stable, shared_loops
from tir_mlir.passes.schedule.placement import move_under_loop, needed_region
from tir_mlir.passes.schedule.placement.digit_spans import enclosed_spans
from tir_mlir.passes.schedule.placement.move_under_loop import (
    SpecialLocation,
    check_unread,
    loop_of_parts,
    move_to_special,
    refuse_parts,
    whole_domain,
)
from tir_mlir.passes.schedule.placement.needed_region import IterSpan, LoopSpace
from tir_mlir.passes.schedule.placement.recurrences import check_repeatable
from tir_mlir.passes.schedule.registry import cache_write_first, primitive, refuse, warn


@primitive("compute_at")
@keeps_region_order
def compute_at(block: Block, loop: Loop | SpecialLocation, preserve_unit_loops: bool = False, index: int = -1) -> None:
    """Move a producer under a loop of its consumers, and compute only what they need there.

        for i in range(64):                        for i_0 in range(4):
            with T.block("P"): P[i] = f(i)             for ax0 in range(18):
        for i_0, i_1 in T.grid(4, 16):       ->            with T.block("P"): P[i_0 * 16 + ax0] = ...
            with T.block("C"): uses P[v:v+3]           for i_1 in range(16):
                                                           with T.block("C"): uses P[v:v+3]

    Every element that a consumer reads is computed before it, in the same iteration of `loop`; overlapping regions are
    recomputed. What a consumer declares by annotate_buffer_access is computed as well; where it computes an index from
    its iters (`B[T.Cast("int32", vi * 0.5)]`), and the values remain in that region, instead of the whole axis. The new
    loops ax0, ax1, ... are serial; a guard is added where the needed box may exceed the block's domain. Reduce iters
    run in full, and so do the ordered iters of a recurrence. A block without consumers runs in full, at the end of the
    loop's body. In shared memory the region covers the needs of all threads: for a buffer in `shared`, enclosing loops
    bound to threadIdx or vthread count as inner loops; in `warp`, those bound to threadIdx.x.

    Requires: the block is a complete block, a full reduction, or a recurrence that needs nothing from other values of
    its spatial iters, and not an output; all its consumers are under `loop`, and all its producers run before (without
    consumers: in full); its inputs do not change in between (if it remains in one iteration of the loops around both
    positions, up to the end of `loop` in that one); no condition on data is around either position. Where a loop
    around both positions runs its reduction part by part, it runs in full each time instead (a `ScheduleWarning` says
    so): whatever saw a part must run again after the last one. `index`: -1 directly before the first consumer, -2
    directly after the last producer, k: position k of the loop's body. A location from `sample_compute_location`
    instead of a loop inlines the block or leaves it.
    """
    if isinstance(loop, SpecialLocation):
        return move_to_special(block, loop, compute_inline)
    spans, anchor = _plan(block, loop, index)
    needed_region.note_spans(block, loop, spans, "all that its readers need there")
    emit_remark(f"what block `{block.name}` reads has the same values under `{loop.name}` as where it ran before")
    move_under_loop.move(block, loop, spans, anchor, preserve_unit_loops)


@only_reads
def _plan(block: Block, loop: Loop, index: int) -> tuple[list[IterSpan], ir.Operation]:
    """What to compute under the loop, and before which op, once these hold:

    1. The block and the loop are in one scope, and the loop is not around the block.
    2. To run an instance of the block again, or the instances in another order, gives the same values.
    3. What the block no longer computes is seen by none: it is not an output, its consumers are all under the loop, and
       no other code uses its results.
    4. All that it reads has the same values under the loop. Where it has consumers, it computes what they need there.
    5. No reduction runs in full where what is around saw a part of it, unless all that saw the part runs again.
    6. No instance runs that did not run before, if it has an effect.
    7. A position in the body is after its producers and before its consumers.
    """
    needed_region.check_target(block, loop)  # 1
    check_repeatable(block)  # 2
    check_reduction_order(block)
    needed_region.check_full_reduction(block)
    users, makers = consumers(block), move_under_loop.blocks_under(loop, producers(block))
    _check_unseen(block, loop, users)  # 3
    spans = _needed_spans(block, loop) if users else whole_domain(block)  # 4
    if not users or not reads_the_same(block, loop, spans):
        _check_inputs_final(block, loop)
    if not users:
        check_unread(block, loop, makers)
    _check_sums(block, loop, spans)  # 5
    needed_region.check_no_new_iterations(block, loop, spans)  # 6
    return spans, move_under_loop.insertion_point(loop, makers, users, index)  # 7


def _check_unseen(block: Block, loop: Loop, users: Sequence[Block]) -> None:
    """Refuse if anybody sees what a block computes where it runs now: outside its scope, or not under the loop."""
    if is_output(block):
        name = next(Buffer(b).name for b in writes_of(block))
        refuse(
            block,
            f'block "{block.name}" writes {name}, which is visible outside its scope: it is an output block; only '
            "blocks that write allocated buffers can be moved to a consumer",
            fix=cache_write_first(block),
        )
    for user in users:
        if not is_inside(user.op, loop.op):
            refuse(
                user,
                f'the consumer "{user.name}" of block "{block.name}" is not under loop {loop.name}, so it '
                "would read values that are not computed yet; compute_at requires all the consumer(s) under the loop",
                fix="choose a loop around all consumers",
            )
    needed_region.check_only_blocks(block, [block, *users])


def _check_inputs_final(block: Block, loop: Loop) -> None:
    """Refuse if an input of the block may have another value under the loop than where the block runs now."""
    check_inputs_stable(block)
    for maker in producers(block):
        needed_region.check_finished(maker, loop)


def _check_sums(block: Block, loop: Loop, spans: list[IterSpan]) -> None:
    """Refuse to run a reduction in full where a loop ran it part by part, unless what saw the parts runs again."""
    split = loop_of_parts(block, loop, spans)
    if split is None:
        return
    outer, driven = split
    if not may_repeat(block, loop, outer, spans):
        refuse_parts(block, loop, outer, driven)
    warn(
        f'under loop {loop.name} block "{block.name}" runs all of its reduction in each iteration of loop '
        f"{outer.name}, which ran it part by part; outside that loop it would run once"
    )


def _needed_spans(block: Block, loop: Loop) -> list[IterSpan]:
    """The iter values whose results are read under `loop` in one iteration; reduce iters run in full."""
    full = {i.name for i in full_iters(block)}
    spatial = [i for i in block.iters if i.name not in full]
    declared_accesses, followed = _declared_reads(block, loop)
    spans = _box_spans(block, loop, spatial, declared_accesses, followed)
    if spans is None:
        spans = _exact_spans(block, loop, spatial, declared_accesses, followed)
    if not declared_accesses and not all(covers(u) for u in move_under_loop.blocks_under(loop, consumers(block))):
        spans = _shorten(block, loop, spans)
    by_name = {s.iter.name: s for s in spans}
    return [by_name.get(i.name) or IterSpan(i, i.min, i.extent, False) for i in block.iters]


def _declared_reads(block: Block, loop: Loop) -> tuple[list[Access], set[ir.Operation]]:
    """The regions of what a block writes that consumers under a loop declare by annotate_buffer_access; and the loads
    at indices that are not affine, but computed from iters alone, which remain in these regions.
    """
    reads, followed = [], set()
    for user in move_under_loop.blocks_under(loop, consumers(block)):
        numbers, regions = explicit(user, attrs.READS), get_declared_regions(user, attrs.READS, [])
        for region in [regions[n] for n in numbers if 0 <= n < len(regions)]:
            if region.buffer.value in writes_of(block):
                first = user.body.operations[0].operation
                reads.append(Access(first, region.buffer.value, READ, region.mins, region.extents))
                loads = [a.op for a in accesses_to(region.buffer.value, user.op) if not a.exact and not a.is_write]
                followed |= {op for op in loads if stays_within(op, user, region.mins, region.extents)}
    return reads, followed


def _box_spans(
    block: Block, loop: Loop, spatial: list[Iter], declared_accesses: list[Access], followed: set[ir.Operation]
) -> list[IterSpan] | None:
    if len(writes_of(block)) != 1:
        return None
    buffer = writes_of(block)[0]
    read = [a for a in accesses(loop.op) if a.buffer == buffer and not a.is_write and a.op not in followed]
    read += [a for a in declared_accesses if a.buffer == buffer]
    stores = accesses_to(buffer, block.op, True)
    free = sharing_threads(Buffer(buffer), loop)
    spans = needed_region.box_spans(read, stores, loop, spatial, dense=False, free=free)
    return enclosed_spans(read, stores, loop, spatial, free) if spans is None else spans


def _exact_spans(
    block: Block, loop: Loop, spatial: list[Iter], declared_accesses: list[Access], followed: set[ir.Operation]
) -> list[IterSpan]:
    space = needed_region.LoopSpace.from_loop(loop)
    with question(f'what is needed of block "{block.name}" under loop {loop.name}'):
        needed, loose = (
            _region_of(block, space, spatial, declared_accesses, followed, exact) for exact in (True, False)
        )
    body_domain = sets.domain(loop.body.operations[0].operation)
    return needed_region.needed_spans(space, needed, loose, spatial, body_domain)


def _region_of(
    block: Block,
    space: LoopSpace,
    spatial: list[Iter],
    declared_accesses: list[Access],
    followed: set[ir.Operation],
    exact: bool,
) -> isl.Map:
    """{ loops of `space` -> iter values } whose results are read there; without guards and ranges unless `exact`."""
    loop, needed = space.loop, None
    for buffer in writes_of(block):
        read = [t for t in relations_of(loop.op, buffer) if not t.access.is_write and t.access.op not in followed]
        read += [relation_of(a) for a in declared_accesses if a.buffer == buffer]
        stores = [t for t in relations_of(block.op, buffer) if t.access.is_write]
        if not read:
            continue
        elements = needed_region.accessed_under(space, read, exact, sharing_threads(Buffer(buffer), loop))
        part = elements.apply_range(needed_region.iter_map(block, stores, spatial, exact).reverse())
        needed = part if needed is None else needed.union(part)
    assert needed is not None
    return needed


def _shorten(block: Block, loop: Loop, spans: list[IterSpan]) -> list[IterSpan]:
    """The spans with the last values that are read, if a consumer runs only a part of its domain."""
    space, symbols = needed_region.LoopSpace.from_loop(loop), symbols_by_name(loop.op)
    iters = [span.iter for span in spans]
    with question(f'the last values that are needed of block "{block.name}" under loop {loop.name}'):
        needed = _region_of(block, space, iters, [], set(), True)
        if not space.dom.exact or not space.dom.set.is_subset(needed.domain()):
            return spans
        lasts = [last_values(needed, number, space.dims, symbols) for number in range(len(iters))]
    return [replace(span, last=tuple(last)) for span, last in zip(spans, lasts, strict=True)]


# --- moves within one iteration of the loops around both positions ----------------------------------------------------


def reads_the_same(block: Block, loop: Loop, spans: Sequence[IterSpan]) -> bool:
    """Whether all instances that spans run under a loop ran before it, in the same iteration of the loops around both,
    and nothing writes their inputs from there on to the end of the loop.
    """
    shared = len(shared_loops(block.op, loop.op, func_of(block.op)))
    if not shared or _writes_inputs_between(block, loop):
        return False
    space, iters = LoopSpace.from_loop(loop), [s.iter for s in spans]
    with question(f'whether block "{block.name}" runs the same iterations under loop {loop.name}'):
        new_runs = needed_region.run_by_spans(space, spans)
        return new_runs.is_subset(needed_region.run_before(block, space, iters, shared))


def _writes_inputs_between(block: Block, loop: Loop) -> bool:
    level = common_parent([block.op, loop.op])
    first, last = (walk.child_towards(level, op) for op in (block.op, loop.op))
    body = [op.operation for op in first.block.operations]
    inputs = {a.buffer for a in accesses(block.op) if not a.is_write} - set(writes_of(block))
    between = body[body.index(first) : body.index(last) + 1]
    return any(a.is_write and a.buffer in inputs for op in between for a in accesses(op))


# --- reductions that run again ----------------------------------------------------------------------------------------


def may_repeat(block: Block, loop: Loop, outer: Loop, spans: Sequence[IterSpan]) -> bool:
    """Whether a reduction may run in full under `loop`, where `outer`, around both positions, ran it part by part."""
    if block.init is None:
        return False
    with question(f'whether block "{block.name}" may run all of its reduction in each iteration of loop {outer.name}'):
        return _has_inputs(block, loop, outer, spans) and _partial_results_are_overwritten(block, outer)


# --- inputs -----------------------------------------------------------------------------------------------------------


def _has_inputs(block: Block, loop: Loop, outer: Loop, spans: Sequence[IterSpan]) -> bool:
    """Whether all that the whole reduction reads is written by then, where `outer` computes it as well."""
    outputs = set(writes_of(block))
    reads = [t for t in relations_of(block.op) if not t.access.is_write and t.access.buffer not in outputs]
    for buffer in dict.fromkeys(t.access.buffer for t in reads):
        writes = [t for t in relations_of(outer.op, buffer) if t.access.is_write]
        for maker in {enclosing_block(t.access.op).op for t in writes}:
            space = LoopSpace.from_loop(shared_loops(maker, loop.op, func_of(maker))[0])
            written_now = needed_region.accessed_under(
                space, [t for t in writes if is_inside(t.access.op, maker)], True
            )
            by_then = isl.Map.lex_ge(space.dom.set.get_space()).intersect_domain(space.dom.set).apply_range(written_now)
            touched = needed_region.iter_map(block, [t for t in reads if t.access.buffer == buffer], block.iters, True)
            if any(doubt(t.access) for t in writes) or not _runs(loop, space, spans).apply_range(touched).is_subset(
                by_then
            ):
                return False
    return True


def _runs(loop: Loop, space: LoopSpace, spans: Sequence[IterSpan]) -> isl.Map:
    """{ loops of `space` -> iter values } of the instances that spans run under `loop`, which is in `space`."""
    runs = needed_region.run_by_spans(LoopSpace.from_loop(loop), spans)
    return runs.project_out(dim_type.in_, len(space.dims), runs.dim(dim_type.in_) - len(space.dims))


# --- results ----------------------------------------------------------------------------------------------------------


def _partial_results_are_overwritten(block: Block, outer: Loop) -> bool:
    """Whether all that is computed in a loop from partial sums is computed again from the final ones, and only that is
    used after it.
    """
    pending, seen = [block], {block.id}
    while pending:
        maker = pending.pop()
        for buffer in writes_of(maker):
            for user in _users(maker, buffer, outer):
                if user is None or not _is_overwritten(maker, user, buffer, outer):
                    return False
                if user.id not in seen:
                    seen.add(user.id)
                    pending.append(user)
    return True


def _users(maker: Block, buffer: ir.Value, outer: Loop) -> list[Block | None]:
    """The blocks in a loop, other than its writer, that use a buffer; None for a use that is in none."""
    scope = scope_of(maker)
    users: dict[Block | None, None] = {}
    for access in accesses_to(buffer, outer.op):
        if not is_inside(access.op, maker.op):
            user = enclosing_block(access.op)
            while isinstance(user, Block) and scope_of(user) != scope:
                user = scope_of(user)
            if isinstance(user, Block) and not access.is_write:
                users[user] = None
            else:
                users[None] = None
    return list(users)


def _is_overwritten(maker: Block, user: Block, buffer: ir.Value, outer: Loop) -> bool:
    """Whether each instance of a block that sees values which the maker computes again runs once more after that."""
    if not user.iters or not is_ahead(maker, user) or not _writes_the_same_again(user):
        return False
    space = LoopSpace.from_loop(shared_loops(maker.op, user.op, func_of(user.op))[0])
    if not space.dom.exact or not sets.domain(user.op).exact:
        return False
    runs = needed_region.run_before(user, space, user.iters, len(space.dims))
    reads = [t for t in relations_of(user.op, buffer) if not t.access.is_write]
    writes = [t for t in relations_of(maker.op, buffer) if t.access.is_write]
    later = isl.Map.lex_lt(space.dom.set.get_space()).intersect_domain(space.dom.set)
    rewritten = later.apply_range(needed_region.accessed_under(space, writes, True))
    early = rewritten.apply_range(needed_region.iter_map(user, reads, user.iters, True).reverse())
    final_runs = runs.subtract(early)
    inner = space.dims.index(outer.var)
    of_outer = (dim_type.in_, inner, len(space.dims) - inner)
    return runs.project_out(*of_outer).is_subset(final_runs.project_out(*of_outer))


def _writes_the_same_again(user: Block) -> bool:
    """Whether two runs of one instance write the same elements, whatever they read."""
    try:
        check_complete(user)
    except ScheduleError:
        return False
    return not any(doubt(t.access) for t in relations_of(user.op) if t.access.is_write)
