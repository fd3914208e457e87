"""Check that a block that moves runs all of a reduction where it ran only part of it before."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

from tir_mlir.dialect.ir import Block, Iter, Loop, func_of
from tir_mlir.passes.schedule.legality import full_iters
from tir_mlir.passes.schedule.legality.stable_inputs import shared_loops
from tir_mlir.passes.schedule.placement.needed_region import IterSpan
from tir_mlir.passes.schedule.registry import refuse


def check_sums_inside(block: Block, loop: Loop, spans: Sequence[IterSpan]) -> None:
    """Refuse to run a whole reduction in each iteration of a loop that ran one part of it at a time.

    The loop is around the block and its new place. Whatever else is in it has seen the parts so far, and would see the
    whole.
    """
    split = loop_of_parts(block, loop, spans)
    if split is not None:
        refuse_parts(block, loop, *split)


def loop_of_parts(block: Block, loop: Loop, spans: Sequence[IterSpan]) -> tuple[Loop, Iter] | None:
    """The outermost loop around both places that runs a reduction part by part, and a reduce iter that it drives."""
    names = {i.name for i in full_iters(block)}
    full = [s.iter for s in spans if s.iter.name in names and s.extent.same(s.iter.extent)]
    for outer in reversed(shared_loops(block.op, loop.op, func_of(block.op))):
        driven = next((it for it in full if outer.var in it.binding.values), None)
        if driven is not None and outer.const_extent != 1:
            return outer, driven
    return None


def refuse_parts(block: Block, loop: Loop, outer: Loop, driven: Iter) -> NoReturn:
    refuse(
        block,
        f'loop {outer.name}, around both places, runs the reduction of block "{block.name}" over '
        f"{driven.name} part by part; under loop {loop.name} all of it would run in each iteration",
        fix=f"in the program, let what follows the block in loop {outer.name} come after that loop",
    )
