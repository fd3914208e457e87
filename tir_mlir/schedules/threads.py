"""Inlining and parallelization, shared by the schedules."""

from __future__ import annotations

from typing import Any

from tir_mlir.dialect.diagnostics import ScheduleError
from tir_mlir.schedule import Schedule
from tir_mlir.schedules.block_queries import extent_of

CHUNKS_PER_THREAD = 4
"""The number of iterations per thread at which load imbalance is negligible."""


def inline(sch: Schedule, block: Any) -> bool:
    """Inline a block into its consumers if possible. Returns whether it was inlined."""
    try:
        sch.compute_inline(block)
    except ScheduleError:
        return False
    return True


def parallelize(sch: Schedule, loops: list[Any], threads: int) -> None:
    """Parallelize the outermost of nested loops, fused with inner ones if it has too few iterations."""
    if threads < 2 or not loops:
        return
    fused, times = [loops[0]], extent_of(sch, loops[0])
    for loop in loops[1:]:
        extent = extent_of(sch, loop)
        if times is None or extent is None or times >= CHUNKS_PER_THREAD * threads:
            break
        fused.append(loop)
        times *= extent
    sch.parallel(sch.fuse(*fused) if len(fused) > 1 else fused[0])
