"""Pictures of a schedule."""

from __future__ import annotations

from collections.abc import Mapping

from tir_mlir.dialect.diagnostics import ScheduleError, short_repr
from tir_mlir.dialect.ir import Block, Loop, enter_context
from tir_mlir.extensions import implement
from tir_mlir.schedule.handles import LoopHandle
from tir_mlir.schedule.primitives import BlockLike
from tir_mlir.schedule.schedule import Schedule
from tir_mlir.visual import plots
from tir_mlir.visual.svg import Picture


@implement(Schedule.plot)
def plot(sch: Schedule, step: int | None = None, *, width: float = 560) -> Picture:
    """Draw the loop nest, or a step of the history. See `Schedule.plot`."""
    executor = sch.executor
    if step is None:
        return plots.plot_module(executor.module, width)
    entries = [e for e in executor.history if e.number == step and not isinstance(step, bool)]
    if not entries:
        raise ValueError(f"step must be from 1 to {len(executor.history)}, not {short_repr(step)}")
    return plots.plot_step(entries[0].before, entries[0].after, entries[0].call, width)


@implement(Schedule.plot_access)
def plot_access(
    sch: Schedule,
    block: BlockLike,
    buffer: str | None = None,
    loop: LoopHandle | None = None,
    *,
    sizes: Mapping[str, int] | None = None,
) -> Picture:
    """Draw the elements of a buffer that a block accesses. See `Schedule.plot_access`."""
    executor = sch.executor.twin()  # a lookup here must not be recorded in this schedule
    with enter_context():
        view = executor.view(
            executor.apply("get_block", block, executor.working) if isinstance(block, str) else block, executor.version
        )
        loop_view = None if loop is None else executor.view(loop, executor.version)
        if not isinstance(view, Block):
            raise ScheduleError("this is the root block; name a block with a computation")
        if loop_view is not None and not isinstance(loop_view, Loop):
            raise ScheduleError("this handle is not a loop; use one of sch.get_loops(block)")
        return plots.plot_access(view, buffer, loop_view, sizes)
