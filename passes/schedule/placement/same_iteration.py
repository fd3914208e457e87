"""Blocks that move within one iteration of the loops around both places, where nothing writes their inputs in between:
they read the same values, also where those are not final.
"""

from __future__ import annotations

from collections.abc import Sequence

from tir_mlir.dialect.analysis.accesses import accesses
from tir_mlir.dialect.ir import Block, Loop, common_parent, func_of, walk
from tir_mlir.dialect.presburger import question
from tir_mlir.passes.schedule.legality import writes_of
from tir_mlir.passes.schedule.legality.stable_inputs import shared_loops
from tir_mlir.passes.schedule.placement import needed_region
from tir_mlir.passes.schedule.placement.needed_region import IterSpan, LoopSpace


def reads_the_same(block: Block, loop: Loop, found: Sequence[IterSpan]) -> bool:
    """Whether all instances that spans run under a loop ran before it, in the same iteration of the loops around both,
    and nothing writes their inputs from there on to the end of the loop.
    """
    shared = len(shared_loops(block.op, loop.op, func_of(block.op)))
    if not shared or _writes_inputs_between(block, loop):
        return False
    place, iters = LoopSpace.of(loop), [s.iter for s in found]
    with question(f'whether block "{block.name}" runs the same iterations under loop {loop.name}'):
        now = needed_region.run_by_spans(place, found)
        return now.is_subset(needed_region.run_before(block, place, iters, shared))


def _writes_inputs_between(block: Block, loop: Loop) -> bool:
    level = common_parent([block.op, loop.op])
    first, last = (walk.child_towards(level, op) for op in (block.op, loop.op))
    body = [op.operation for op in first.block.operations]
    inputs = {a.buffer for a in accesses(block.op) if not a.is_write} - set(writes_of(block))
    between = body[body.index(first) : body.index(last) + 1]
    return any(a.is_write and a.buffer in inputs for op in between for a in accesses(op))
