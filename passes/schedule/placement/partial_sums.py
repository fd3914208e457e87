"""Check that a block that moves runs all of a reduction where it ran only part of it before."""

from __future__ import annotations

from collections.abc import Sequence

from tir_mlir.dialect.ir import Block, Loop, func_of
from tir_mlir.passes.schedule.legality import full_iters
from tir_mlir.passes.schedule.legality.stable_inputs import shared_loops
from tir_mlir.passes.schedule.placement.needed_region import IterSpan
from tir_mlir.passes.schedule.registry import refuse


def check_sums_inside(block: Block, loop: Loop, found: Sequence[IterSpan]) -> None:
    """Refuse to run a whole reduction in each iteration of a loop that ran one part of it at a time.

    The loop is around the block and its new place. Whatever else is in it has seen the parts so far, and would see the
    whole.
    """
    shared = {lp.var: lp for lp in shared_loops(block.op, loop.op, func_of(block.op))}
    names = {i.name for i in full_iters(block)}
    for span in found:
        whole = span.iter.name in names and span.extent.same(span.iter.extent)
        for value in span.iter.binding.values if whole else ():
            if value in shared and shared[value].const_extent != 1:
                name = shared[value].name
                refuse(
                    block,
                    f'loop {name}, around both places, runs the reduction of block "{block.name}" over '
                    f"{span.iter.name} part by part; under loop {loop.name} all of it would run in each iteration",
                    fix=f"in the program, let what follows the block in loop {name} come after that loop",
                )
