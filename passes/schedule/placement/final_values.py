"""Whether a consumer that moves under a loop of its producers reads final values there, at least in its last run."""

from __future__ import annotations

from collections.abc import Sequence

import islpy as isl
from mlir import ir

from tir_mlir.dialect.analysis import Access, loop_names, relations_of
from tir_mlir.dialect.analysis.accesses import accesses_to
from tir_mlir.dialect.analysis.certainty import require_certain
from tir_mlir.dialect.diagnostics import Counterexample, Element, Iteration, NotProvable
from tir_mlir.dialect.ir import Block, Buffer, Iter, Loop, func_of
from tir_mlir.dialect.presburger import dim_type, only_where, question, sets, sizes_without, smallest_point
from tir_mlir.passes.schedule.legality import full_iters, trapping_op
from tir_mlir.passes.schedule.legality.stable_inputs import shared_loops
from tir_mlir.passes.schedule.placement import needed_region
from tir_mlir.passes.schedule.placement.needed_region import IterSpan, LoopSpace
from tir_mlir.passes.schedule.registry import refuse, warn

READY = "whether all that is read of {} is written, and final"


def accesses_between(loop: Loop, block: Block, buffer: ir.Value) -> list[Access]:
    """The writes of a buffer under a loop, and its reads in a block."""
    written = accesses_to(buffer, loop.op, True)
    return written + accesses_to(buffer, block.op, False)


class _Runs:
    """The instances of a block that moves under a loop, as relations { loops of the position -> spatial iters }.

    `runs`: at the new position. `before`: at the old one, in the same iteration of the `shared` outermost loops.
    """

    def __init__(self, block: Block, loop: Loop, spans: Sequence[IterSpan]):
        self.block, self.loop, self.target = block, loop, LoopSpace.from_loop(loop)
        full = {i.name for i in full_iters(block)}
        self.spatial = [i for i in block.iters if i.name not in full]
        self.shared = len(shared_loops(block.op, loop.op, func_of(block.op)))
        self.runs = needed_region.run_by_spans(self.target, [s for s in spans if s.iter.name not in full])
        self.before = needed_region.run_before(block, self.target, self.spatial, self.shared)

    def reading(self, buffer: ir.Value) -> isl.Map:
        """{ spatial iters -> elements of a buffer that the instance reads }."""
        reads = [t for t in relations_of(self.block.op, buffer) if not t.access.is_write]
        return needed_region.iter_map(self.block, reads, self.spatial, True)

    def written_later(self, buffer: ir.Value) -> isl.Map:
        """{ loops -> elements that are written in a later iteration, in the same one of the shared loops }."""
        dom = self.target.dom.set
        order = isl.Map.lex_lt(dom.get_space()).intersect_domain(dom)
        for level in range(self.shared):
            order = order.equate(dim_type.in_, level, dim_type.out, level)
        written = [t for t in relations_of(self.loop.op, buffer) if t.access.is_write]
        return order.apply_range(needed_region.accessed_under(self.target, written, True))

    def lost_runs(self, surviving: isl.Map) -> isl.Map:
        """{ shared loops -> spatial iters } of the old instances that are not among `surviving`: also where the loops
        around the new position have no iteration at all.
        """
        old = runs_now(self.block, self.spatial, self.shared)
        return old.subtract(surviving.project_out(dim_type.in_, self.shared, len(self.target.dims) - self.shared))


def check_last_runs(block: Block, loop: Loop, inputs: list, spans: Sequence[IterSpan], producer: Block) -> None:
    """Refuse unless the last run of each instance of the moved block reads final values, and only old instances run.

    Needed if an element is computed more than once, with different values: a sum that `loop` accumulates is not
    finished in the earlier iterations, and neither is what is computed from it. The block then runs on partial sums and
    overwrites its results later. `producer`: the block of that sum, or the first that depends on it.
    """
    with question(f'whether block "{block.name}" would read final values under loop {loop.name}'):
        moved = _Runs(block, loop, spans)
        if not moved.spatial:
            needed_region.check_finished(producer, loop)
        if not moved.target.dom.exact:
            raise NotProvable(f"a condition around loop {loop.name} cannot be expressed in isl")
        early = moved.runs.subtract(moved.runs)
        for buffer in inputs:
            stale = moved.written_later(buffer).apply_range(moved.reading(buffer).reverse())
            early = early.union(stale.intersect(moved.runs))
        final_runs = moved.runs.subtract(early)
        partial = not early.is_empty()
        lost = moved.lost_runs(final_runs)
        if partial and not lost.is_empty():
            _refuse_stale(moved, lost, inputs, producer)
        _check_same_runs(moved, final_runs)
    if partial:
        _check_safe_on_partial_sums(block, loop, producer)
        _warn_of_early_runs(block, loop, producer)


def _warn_of_early_runs(block: Block, loop: Loop, producer: Block) -> None:
    what, where = f'values of block "{producer.name}" that are not final', "an outer loop"
    if needed_region.unfinished_iter(producer, loop) is not None:
        what, where = f'partial sums of block "{producer.name}"', "a loop outside the reduction"
    warn(
        f'under loop {loop.name} block "{block.name}" also runs on {what}; only its last run has the final values: '
        f"{where} runs it once"
    )


def _refuse_stale(moved: _Runs, lost: isl.Map, inputs: list, producer: Block) -> None:
    """Refuse: the instances `lost` never run on final values."""
    block, loop = moved.block, moved.loop
    if needed_region.unfinished_iter(producer, loop) is not None:
        example = first_iteration(lost.range(), block, moved.spatial)
        consequence = f'block "{block.name}" would not run on the final values, as {example}'
        needed_region.check_finished(producer, loop, consequence, example)
    for buffer in inputs:
        early = moved.runs.intersect_range(lost.range()).apply_range(moved.reading(buffer))
        early = early.intersect(moved.written_later(buffer))
        if early.is_empty():
            continue
        require_certain(accesses_between(loop, block, buffer), READY.format(Buffer(buffer).name))
        element, iteration, example = describe_read(early, buffer, moved.target, loop, block)
        text = f'block "{block.name}" reads {element}, which is written again after {iteration}'
        refuse(loop, text, counterexample=example)


def _check_safe_on_partial_sums(block: Block, loop: Loop, producer: Block) -> None:
    """Refuse to run the block on partial sums if that may trap. Its readers come after its last run."""
    op = trapping_op(block, gathers=True)
    if op is not None:
        consequence = f'block "{block.name}" computes {op.name}, which may trap or go out of bounds on partial sums'
        needed_region.check_finished(producer, loop, consequence)
        refuse(loop, f'under loop {loop.name} block "{producer.name}" is not final yet; {consequence}')


def _check_same_runs(moved: _Runs, final_runs: isl.Map) -> None:
    """Refuse unless exactly the old instances run at the new position, and each of them is among `final_runs`."""
    block, loop, spatial = moved.block, moved.loop, moved.spatial
    lost, gained = moved.lost_runs(final_runs), moved.runs.subtract(moved.before)
    is_lost, is_gained = bool(spatial) and not lost.is_empty(), bool(spatial) and not gained.is_empty()
    if is_lost or is_gained:
        wrong = lost if is_lost else gained
        example = first_iteration(wrong.range(), block, spatial)
        changed = "would not run at all" if is_lost else "would run where they did not before"
        text = f'under loop {loop.name} some iterations of block "{block.name}" {changed}, as {example}'
        refuse(loop, f"{text}{only_where(wrong, loop.op)}", counterexample=example)


def runs_now(block: Block, iters: Sequence[Iter], shared: int) -> isl.Map:
    """{ `shared` outermost loops -> iter values } of the instances of a block where it is."""
    dom = sets.domain(block.op)
    runs = dom.map([i.binding for i in iters]) if iters else dom.relation([dom.zero])
    return runs.project_out(dim_type.in_, shared, len(dom.dims) - shared)


def first_iteration(points: isl.Set, block: Block, iters: Sequence[Iter]) -> Counterexample:
    """The lexicographically smallest iteration of a set."""
    point = smallest_point(points) or []
    return Counterexample(
        (Iteration.from_point(block.name, [i.name for i in iters], point[len(point) - len(iters) :]),)
    )


def describe_read(
    points: isl.Map, buffer: ir.Value, space: LoopSpace, loop: Loop, block: Block
) -> tuple[str, str, Counterexample]:
    """The smallest point of { loops -> element }: the element and the iteration as text, and as a counterexample."""
    point = smallest_point(sets.flatten(points)) or []
    rank = Buffer(buffer).rank
    element = Element.from_indices(Buffer(buffer).name, point[len(point) - rank :])
    names = loop_names(loop.body.operations[0].operation)
    values = point[len(point) - rank - len(space.dims) : len(point) - rank]
    unless = sizes_without(points, loop.op)
    element_text = f"{element}{f' (unless {unless})' if unless else ''}"
    iteration = Iteration.from_point(block.name, names, values)
    example = Counterexample((iteration,), element, unless=unless)
    return element_text, ", ".join(f"{n} = {v}" for n, v in iteration.values), example
