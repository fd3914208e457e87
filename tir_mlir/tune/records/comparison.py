"""A schedule compared with its program, as the winner of a search and each record that is used are."""

from __future__ import annotations

from tir_mlir.dialect.diagnostics import NotChecked
from tir_mlir.schedule import Schedule


class ScheduleDiffers(Exception):
    """A schedule that changes the result of its program."""


def verify_schedule(schedule: Schedule) -> str:
    """Verify a schedule, scaled, or at its own sizes if these are small and no smaller ones have the same guards.

    Returns what was checked; raises NotChecked, and NotEqual with the difference.
    """
    try:
        result = schedule.verify("scaled")
    except NotChecked:
        result = schedule.verify("auto")
    if not result:
        raise ScheduleDiffers(str(result.difference))
    return str(result).splitlines()[1]
