"""Schedule for blocks that compute a whole row, or more, at a time."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING

from tir_mlir.dialect.diagnostics import ScheduleError
from tir_mlir.schedule import BlockHandle, LoopHandle, Schedule
from tir_mlir.schedules.block_queries import (
    LARGE,
    along_memory,
    block_handle,
    block_info,
    iters,
    loops_by_iter,
    num_instances,
)
from tir_mlir.schedules.free_choice import Free
from tir_mlir.schedules.producers import Member, with_producers
from tir_mlir.schedules.steps import all_or_nothing, parallelize
from tir_mlir.target import Target, chosen

if TYPE_CHECKING:
    from tir_mlir.schedule.primitives import BlockLike


@all_or_nothing
def independent(
    sch: Schedule,
    block: BlockLike,
    target: Target | str | None = None,
    threads: int | None = None,
    free: bool = False,
) -> None:
    """Run the instances of a block with loops or branches inside (top-k, a scan of a row) in parallel.

        for i, j: M[i] = max(M[i], X[i, j])               for i (parallel):
        for i:                                                for j: M = max(M, X[i, j]), vectorized
            with T.block("row"): ... X[vi, 0:n] ...  ->       with T.block("row"): ... X[vi, 0:n] ...

    Parallel over the leading spatial iters; what is inside a block remains as it is. Producers that pass once over
    their input, row by row, are computed with the row. Each iter must be bound to its own loop; extents may be
    symbolic. target: default this machine; threads: default its number of cores. free: as in `gemm`. Raises
    ScheduleError if the first iter is not spatial, or if the instances are not independent.
    """
    threads = Free(sch, block, free).threads(threads or chosen(target).cores)
    block = block_handle(sch, block)
    info, loops = block_info(sch, block), loops_by_iter(sch, block)
    leading = []
    for name in loops:
        if name not in iters(info, "S"):
            break
        leading.append(name)
    if not leading:
        raise ScheduleError(f'block "{info.name}" has no leading spatial iter, so its instances are not independent')
    outer = [loops[n] for n in leading]
    for member in reversed(with_producers(sch, block)[:-1]):
        row_iters = member.own_iters(leading)
        if member.readers == 1 and row_iters is not None and _passes_once(member):
            _compute_with_row(sch, member, row_iters, outer)
    parallelize(sch, outer, threads)


def _passes_once(member: Member) -> bool:
    """Whether a block has about as many instances as its largest input has elements; a product has more."""
    info = member.info
    sizes = [prod(LARGE if not isinstance(e, int) else e for e in r.buffer.shape) for r in info.reads]
    return len(info.writes) == 1 and num_instances(info) < 2 * max(sizes, default=0)


def _compute_with_row(sch: Schedule, member: Member, row_iters: list[str], outer: Sequence[LoopHandle]) -> None:
    """Compute a producer at the loops over rows, and vectorize it, as far as that is legal."""
    try:
        loops = sch.executor.all_or_nothing(lambda: _compute_at_innermost(sch, member.block, outer))
        sch.executor.all_or_nothing(
            lambda: _vectorize(sch, member, {n: x for n, x in loops.items() if n not in row_iters})
        )
    except ScheduleError:
        return


def _compute_at_innermost(sch: Schedule, block: BlockHandle, outer: Sequence[LoopHandle]) -> dict[str, LoopHandle]:
    """Compute a block at the innermost of some loops. Returns its loops below them, by iter."""
    loops_by_iter(sch, block)  # refuses a block whose loops were split
    sch.compute_at(block, outer[-1], preserve_unit_loops=True)
    return loops_by_iter(sch, block, skipped=len(outer))


def _vectorize(sch: Schedule, member: Member, loops: dict[str, LoopHandle]) -> None:
    """Vectorize a reduction over its sum, another block along memory."""
    sums = along_memory(member.info, [n for n in loops if n in iters(member.info, "R")])
    order = [n for n in loops if n not in sums] + sums if sums else along_memory(member.info, list(loops))
    if len(order) > 1:
        sch.reorder(*(loops[n] for n in order))
    if order:
        sch.vectorize(loops[order[-1]])
