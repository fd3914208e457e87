"""What several schedules do: blocks into their readers, loops to the threads."""

from __future__ import annotations

from typing import Any

from tir_mlir.dialect.diagnostics import ScheduleError
from tir_mlir.schedule import Schedule
from tir_mlir.schedules.block_queries import extent_of

SHARES = 4
"""Pieces of work for a thread that make up for a piece more or less."""


def inline(sch: Schedule, block: Any) -> bool:
    """Merge a block into those that read it; whether that goes (not for gathers, and what is read in other ways)."""
    try:
        sch.compute_inline(block)
    except ScheduleError:
        return False
    return True


def share(sch: Schedule, loops: list[Any], threads: int) -> None:
    """Give the iterations of nested loops to threads: of the outermost, or of several in one where it runs seldom."""
    if threads < 2 or not loops:
        return
    taken, times = [loops[0]], extent_of(sch, loops[0])
    for loop in loops[1:]:
        more = extent_of(sch, loop)
        if times is None or more is None or times >= SHARES * threads:
            break
        taken.append(loop)
        times *= more
    sch.parallel(sch.fuse(*taken) if len(taken) > 1 else taken[0])
