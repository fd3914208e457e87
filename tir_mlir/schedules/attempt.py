"""Steps of a schedule that may be refused: all of them are applied, or none."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from tir_mlir.dialect.diagnostics import InternalError, ScheduleError
from tir_mlir.schedule import Schedule

P = ParamSpec("P")
R = TypeVar("R")


def all_or_nothing(schedule: Callable[Concatenate[Schedule, P], R]) -> Callable[Concatenate[Schedule, P], R]:
    """A function that schedules a block, as one step: where it raises, the schedule stays as it was."""

    @wraps(schedule)
    def run(sch: Schedule, *args: P.args, **kwargs: P.kwargs) -> R:
        return sch.executor.all_or_nothing(lambda: schedule(sch, *args, **kwargs))

    return run


def attempt(sch: Schedule, steps: Callable[[], Any]) -> Any:
    """Run steps, all or none of them; None if one is refused. Errors: InternalError."""
    try:
        return sch.executor.all_or_nothing(steps)
    except InternalError:
        raise
    except ScheduleError:
        return None
