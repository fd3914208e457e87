"""Whether a block may run its whole reduction in each iteration of a loop that ran one part of it at a time.

What follows the block in the loop then sees final values where it saw partial sums. The results are the same if each of
these instances runs again, at the same point, after the last part: that run overwrites what the others gave, and it saw
final values before, too.
"""

from __future__ import annotations

from collections.abc import Sequence

import islpy as isl
from mlir import ir

from tir_mlir.dialect.analysis import relations_of
from tir_mlir.dialect.analysis.accesses import accesses_to
from tir_mlir.dialect.analysis.certainty import doubt
from tir_mlir.dialect.diagnostics import ScheduleError
from tir_mlir.dialect.ir import Block, Loop, enclosing_block, func_of, is_inside
from tir_mlir.dialect.presburger import dim_type, question, sets
from tir_mlir.passes.schedule.legality import check_complete, is_ahead, scope_of, writes_of
from tir_mlir.passes.schedule.legality.stable_inputs import shared_loops
from tir_mlir.passes.schedule.placement import needed_region
from tir_mlir.passes.schedule.placement.needed_region import IterSpan, LoopSpace


def may_repeat(block: Block, loop: Loop, outer: Loop, spans: Sequence[IterSpan]) -> bool:
    """Whether a reduction may run in full under `loop`, where `outer`, around both places, ran it part by part."""
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
            space = LoopSpace.of(shared_loops(maker, loop.op, func_of(maker))[0])
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
    runs = needed_region.run_by_spans(LoopSpace.of(loop), spans)
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
    space = LoopSpace.of(shared_loops(maker.op, user.op, func_of(user.op))[0])
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
