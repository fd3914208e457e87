"""compute_at: a producer is computed where its consumers need it."""

from __future__ import annotations

from mlir import ir

from tir_mlir.dialect.analysis import relations_of
from tir_mlir.dialect.analysis.accesses import accesses
from tir_mlir.dialect.ir import Block, Buffer, Iter, Loop, only_reads
from tir_mlir.dialect.presburger import question, sets
from tir_mlir.passes.schedule.edits import keeps_region_order
from tir_mlir.passes.schedule.inlining.compute_inline import compute_inline
from tir_mlir.passes.schedule.legality import (
    check_complete_or_reduction,
    check_rising,
    consumers,
    is_output,
    own_copy,
    producers,
    sharing,
    touched,
    writes_of,
)
from tir_mlir.passes.schedule.placement import needed_region
from tir_mlir.passes.schedule.placement.location import Mark, move_to_mark
from tir_mlir.passes.schedule.placement.stable_inputs import check_inputs_last
from tir_mlir.passes.schedule.registry import check, primitive, refuse


@primitive("compute_at")
@keeps_region_order
def compute_at(block: Block, loop: Loop | Mark, preserve_unit_loops: bool = False, index: int = -1) -> None:
    """Move a producer under a loop of its consumers, and compute there just what they need.

        for i in range(64):                        for i_0 in range(4):
            with T.block("P"): P[i] = f(i)             for ax0 in range(18):
        for i_0, i_1 in T.grid(4, 16):       ->            with T.block("P"): P[i_0 * 16 + ax0] = ...
            with T.block("C"): uses P[v:v+3]           for i_1 in range(16):
                                                           with T.block("C"): uses P[v:v+3]

    Every element that a consumer reads is computed before it, in the same iteration of `loop`; overlapping needs are
    computed again. New loops ax0, ax1, ... are serial; a guard appears where the needed box can leave the block's
    domain. In a memory that threads share, what all of them need is computed: for a buffer in `shared` the loops around
    that are bound to threadIdx and vthread count as loops beneath, in `warp` those bound to threadIdx.x.

    Requires: the block is complete or a reduction that runs in full and no output; all its consumers are beneath
    `loop`, its producers are not beyond it; what it reads does not change in between. `index`: -1 just before the first
    consumer, -2 right after the last producer, k: position k of the loop's body. A mark of `sample_compute_location`
    in place of a loop inlines the block or leaves it.
    """
    if isinstance(loop, Mark):
        return move_to_mark(block, loop, compute_inline)
    found, anchor = _plan(block, loop, index)

    needed_region.move(block, loop, found, anchor, preserve_unit_loops)


@only_reads
def _plan(block: Block, loop: Loop, index: int) -> tuple[list[needed_region.Span], ir.Operation]:
    """All checks: what to compute under the loop, and before which op."""
    needed_region.check_place(block, loop)
    check_complete_or_reduction(block)
    check_rising(block)
    needed_region.check_whole(block)
    if is_output(block):
        name = next(Buffer(b).name for b in writes_of(block))
        refuse(
            block,
            f'block "{block.name}" writes {name}, which lives outside its scope; only blocks that write allocated'
            " buffers can be moved to a consumer",
            fix=own_copy(block),
        )
    users = consumers(block)
    check(
        bool(users),
        block,
        f'block "{block.name}" has no consumer; there is nothing to compute it at',
        fix="reverse_compute_at takes it to what it reads; compute_inline drops it",
    )
    for user in users:
        if user not in needed_region.under(loop, users):
            refuse(
                user,
                f'the consumer "{user.name}" of block "{block.name}" is not beneath loop {loop.name}, so it would read'
                " values that are not computed yet; choose a loop around all consumers",
            )
    needed_region.check_only_blocks(block, [block, *users])
    check_inputs_last(block)
    makers = needed_region.under(loop, producers(block))
    for maker in producers(block):
        needed_region.check_finished(maker, loop)
    found = _needed(block, loop)
    needed_region.check_none_gained(block, loop, found)
    return found, needed_region.insertion(loop, makers, users, index)


def _needed(block: Block, loop: Loop) -> list[needed_region.Span]:
    """The iter values whose results are read beneath `loop` in one iteration; reduce iters run in full."""
    spatial = [i for i in block.iters if i.kind != "R"]
    found = _plainly_needed(block, loop, spatial)
    if found is None:
        found = _exactly_needed(block, loop, spatial)
    by_name = {s.iter.name: s for s in found}
    return [by_name.get(i.name) or needed_region.Span(i, i.min, i.extent, False) for i in block.iters]


def _plainly_needed(block: Block, loop: Loop, spatial: list[Iter]) -> list[needed_region.Span] | None:
    if len(writes_of(block)) != 1:
        return None
    buffer = writes_of(block)[0]
    read = [a for a in accesses(loop.op) if a.buffer == buffer and not a.is_write]
    own = [a for a in touched(block, buffer) if a.is_write]
    return needed_region.plain_spans(read, own, loop, spatial, dense=False, free=sharing(Buffer(buffer), loop))


def _exactly_needed(block: Block, loop: Loop, spatial: list[Iter]) -> list[needed_region.Span]:
    place = needed_region.Place.of(loop)
    with question(f'what is needed of block "{block.name}" under loop {loop.name}'):
        needed = loose = None
        for buffer in writes_of(block):
            read = [t for t in relations_of(loop.op, buffer) if not t.access.is_write]
            own = [t for t in relations_of(block.op, buffer) if t.access.is_write]
            if not read:
                continue
            for exact in (True, False):
                elements = needed_region.elements(place, read, exact, sharing(Buffer(buffer), loop))
                inverse = needed_region.iter_map(block, own, spatial, exact).reverse()
                part = elements.apply_range(inverse)
                if exact:
                    needed = part if needed is None else needed.union(part)
                else:
                    loose = part if loose is None else loose.union(part)
        assert needed is not None and loose is not None
    around = sets.domain(loop.body.operations[0].operation)
    return needed_region.spans(place, needed, loose, spatial, around)
