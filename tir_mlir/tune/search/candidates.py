"""Candidates: a space, run once with a decider, gives a schedule and its decisions, or a refusal."""

from __future__ import annotations

import os
import time
import traceback
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tir_mlir import sources
from tir_mlir.dialect.diagnostics import ScheduleWarning, TirError, TuneError
from tir_mlir.passes.schedule.queries.decider import Decider
from tir_mlir.schedule import Schedule
from tir_mlir.tune.search.suggestions import Deciding, RepeatedDecisions, SpaceChoice, Tried

if TYPE_CHECKING:
    from tir_mlir.script.module import IRModule

_PACKAGE = tuple(folder + os.sep for folder in sources.FOLDERS)
Space = Callable[[Schedule], object]
"""A stochastic schedule: it may return a Schedule, else the one that it is given is meant."""


@dataclass
class Candidate:
    """A scheduled program and its decisions; without a schedule, the reason why the space refused them."""

    choices: list[SpaceChoice]
    schedule: Schedule | None = None
    reason: str = ""
    seconds: float = 0.0
    """CPU time of scheduling."""
    origin: str = ""
    """Who proposed it: "library", "neighbor" or the sampler."""
    number: int | None = None
    """Of its trial; None before it is entered."""

    @property
    def decisions(self) -> dict[str, int]:
        """Values by name, in order."""
        return {c.name: c.value for c in self.choices}


def draw_candidate(
    program: IRModule, space: Space, decider: Decider, tried: Tried | None = None, origin: str = ""
) -> Candidate:
    """Run a space over a fresh schedule of the program. A step that is refused makes a refused candidate.

    Raises Repeated for the decisions of an earlier candidate, and TuneError, with the cause, for another error of the
    space.
    """
    if tried is not None and tried.is_complete:  # a space without decisions
        raise RepeatedDecisions(tried.tag)
    deciding, start = Deciding(decider, tried), time.process_time()
    schedule, reason = None, ""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ScheduleWarning)  # given once, by the library's choice
            schedule = _run_space(program, space, deciding)
    except TirError as error:
        if isinstance(error, TuneError):
            raise
        reason = _one_line_reason(error)
    except Exception as error:
        decided = {c.name: c.value for c in deciding.choices}
        raise TuneError(
            f"the space raised {type(error).__name__}{_user_location(error)}: {error}, with the decisions {decided}; "
            "fix: a space may refuse decisions by an error of its steps (ScheduleError) only"
        ) from error
    return Candidate(deciding.choices, schedule, reason, time.process_time() - start, origin)


def _one_line_reason(error: TirError) -> str:
    """The step that was refused, and why."""
    reason = str(getattr(error, "reason", "") or error).strip().splitlines()[0]
    call = getattr(error, "call", "")
    return f"{call}: {reason}" if call else reason


def _user_location(error: Exception) -> str:
    """Where the user's code was: ` at FILE:LINE` of the last call outside of packages; "" if there is none."""
    frames = traceback.extract_tb(error.__traceback__)
    outer = (f for f in reversed(frames) if not f.filename.startswith(_PACKAGE) and "site-packages" not in f.filename)
    frame = next(outer, None)
    return "" if frame is None else f" at {frame.filename}:{frame.lineno}"


def _run_space(program: IRModule, space: Space, decider: Deciding) -> Schedule:
    schedule = Schedule(program, seed=0, decider=decider)
    returned = space(schedule)
    if isinstance(returned, Schedule):
        return returned
    return schedule
