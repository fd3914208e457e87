"""sample_compute_location: sample a location for a producer among the legal ones."""

from __future__ import annotations

from collections.abc import Callable

from mlir import ir

from tir_mlir.dialect.diagnostics import NotAffine, NotProvable, ScheduleError, VerifyError
from tir_mlir.dialect.ir import Block, Loop, create, func_of, parent_op, walk
from tir_mlir.dialect.verify import verify
from tir_mlir.passes.schedule.inlining.compute_inline import compute_inline
from tir_mlir.passes.schedule.legality import check_concurrency, scope
from tir_mlir.passes.schedule.placement.compute_at import compute_at
from tir_mlir.passes.schedule.placement.move_under_loop import SpecialLocation
from tir_mlir.passes.schedule.queries.decider import Choices, Random
from tir_mlir.passes.schedule.registry import Sample, primitive

_REFUSALS = (ScheduleError, VerifyError, NotProvable, NotAffine)


@primitive("sample_compute_location", pure=True, samples=Loop)
def sample_compute_location(
    block: Block, decision: int | None = None, name: str | None = None, *, choices: Choices
) -> Sample:
    """Sample where to compute a producer: a loop of its first consumer, inlined, or in place.

        loop = sch.sample_compute_location(block)                       sch.compute_at(block, loop)

    The decision is -2 (inline: `compute_at` then is `compute_inline`), -1 (remain: `compute_at` does nothing), or the
    position of a loop around the first consumer. Unit loops, spatial loops inside a reduction and the innermost reduce
    loops are not candidates, nor is any location that `compute_at` refuses. All candidates are equally likely. A
    decision that is not a candidate becomes the next lower one, or -1. `name`: that of the decision,
    "compute_location(B)" for a block B if not given, for the decider of the schedule.
    """
    users = scope.consumers(block)
    loops = walk.loops_above(users[0].outermost) if users else []
    positions = [int(SpecialLocation.INLINE), int(SpecialLocation.ROOT)] if users else [int(SpecialLocation.ROOT)]
    positions += candidate_positions(users[0], loops) if users else []
    possible = _Possible(block, loops)
    name = choices.name(name or f"compute_location({block.name})")
    if decision is None and choices.decider is not None:
        legal = [p for p in positions if possible(p)]
        decision = legal[choices.ask_decider(name, legal, [1.0] * len(legal))]
    elif decision is None:
        decision = _sample_possible(positions, possible, choices.random)
    else:
        lower = [p for p in positions if p <= decision]
        decision = next((p for p in reversed(lower) if possible(p)), int(SpecialLocation.ROOT))
    return Sample(decision, SpecialLocation(decision) if decision < 0 else loops[decision], name)


def _sample_possible(positions: list[int], possible: Callable[[int], bool], random: Random) -> int:
    """Rejection sampling: one of the possible locations, all equally likely."""
    remaining = list(positions)
    while True:
        location = remaining.pop(random.draw_below(len(remaining)))
        if possible(location):
            return location


def candidate_positions(consumer: Block, loops: list[Loop]) -> list[int]:
    """The positions of the loops that are candidates."""
    reduces = [any(i.kind == "R" and i.binding.uses(loop.var) for i in consumer.iters) for loop in loops]
    last_spatial = max((n for n, r in enumerate(reduces) if not r), default=-1)
    candidates = []
    for position, loop in enumerate(loops):
        inner_spatial = not reduces[position] and any(reduces[:position])
        trailing = reduces[position] and position > last_spatial
        if loop.const_extent != 1 and not inner_spatial and not trailing:
            candidates.append(position)
    return candidates


class _Possible:
    """Whether a block can be moved to a location, tried on a copy of the module."""

    def __init__(self, block: Block, loops: list[Loop]):
        self.module: ir.Operation = parent_op(func_of(block.op).op)
        self.block, self.loops = block, loops

    def __call__(self, location: int) -> bool:
        if location == SpecialLocation.ROOT:
            return True
        copy = create.clone_module(self.module)
        block = Block(walk.op_with_id(copy, self.block.id))
        try:
            if location == SpecialLocation.INLINE:
                compute_inline(block)
            else:
                compute_at(block, Loop(walk.op_with_id(copy, self.loops[location].id)))
            verify(copy, old_module=lambda: self.module)
            check_concurrency("compute_at", lambda: self.module, copy)
        except _REFUSALS:
            return False
        return True
