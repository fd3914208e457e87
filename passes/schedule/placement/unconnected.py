"""Blocks that no other block feeds (reverse_compute_at) or reads (compute_at): they run in full under the loop."""

from __future__ import annotations

from collections.abc import Sequence

from tir_mlir.dialect.diagnostics import NotProvable
from tir_mlir.dialect.ir import Block, Loop, func_of, is_inside, loops_above
from tir_mlir.dialect.presburger import dim_type, only_where, question, sets
from tir_mlir.passes.schedule.legality import consumers, producers, runs_before
from tir_mlir.passes.schedule.legality.stable_inputs import check_inputs_stable, shared_loops
from tir_mlir.passes.schedule.placement.final_values import first_iteration, runs_now
from tir_mlir.passes.schedule.placement.needed_region import IterSpan
from tir_mlir.passes.schedule.registry import check, refuse


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
