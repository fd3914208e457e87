"""Steps of a schedule that may be refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tir_mlir.dialect.diagnostics import InternalError, ScheduleError
from tir_mlir.schedule import Schedule


def attempt(sch: Schedule, steps: Callable[[], Any]) -> Any:
    """Run steps, all or none of them; None if one is refused. Errors: InternalError."""
    try:
        return sch.executor.all_or_nothing(steps)
    except InternalError:
        raise
    except ScheduleError:
        return None
