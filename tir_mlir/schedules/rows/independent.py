"""Schedule for blocks that compute a whole row, or more, at a time."""

from __future__ import annotations

from typing import Any

from tir_mlir.dialect.diagnostics import ScheduleError
from tir_mlir.schedule import Schedule
from tir_mlir.schedules.block_queries import block_info, iters, loops_by_iter
from tir_mlir.schedules.threads import parallelize
from tir_mlir.target import Target, chosen


def independent(sch: Schedule, block: Any, target: Target | str | None = None, threads: int | None = None) -> None:
    """Run the instances of a block with loops or branches inside (top-k, a scan of a row) in parallel.

        for i:                                            for i (parallel):
            with T.block("row"): ... X[vi, 0:n] ...  ->       with T.block("row"): ...

    Parallel over the leading spatial iters; what is inside a block stays as it is. Each iter must be bound to its own
    loop; extents may be symbolic. target: default this machine; threads: default its number of cores. Raises
    ScheduleError if the first iter is not spatial, or if the instances are not independent.
    """
    threads = threads or chosen(target).cores
    if isinstance(block, str):
        block = sch.get_block(block)
    info, loops = block_info(sch, block), loops_by_iter(sch, block)
    leading = []
    for name in loops:
        if name not in iters(info, "S"):
            break
        leading.append(loops[name])
    if not leading:
        raise ScheduleError(f'block "{info.name}" has no leading spatial iter, so its instances are not independent')
    parallelize(sch, leading, threads)
