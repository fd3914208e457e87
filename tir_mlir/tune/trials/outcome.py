"""What became of a candidate."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from statistics import median

from tir_mlir.dialect.diagnostics import TuneError

OUTLYING = 2
"""A run that takes this many times the median was disturbed."""


class Status(str, enum.Enum):
    """How a trial ended; the value is its text in tables and records."""

    OK = "ok"
    REFUSED = "refused"
    BUILD_ERROR = "build error"
    CRASHED = "crashed"
    TIMED_OUT = "timed out"
    OUT_OF_MEMORY = "out of memory"
    WRONG = "wrong"
    SLOW = "slow"
    """Stopped early: hopeless against the best."""
    LOST = "lost"
    """What it was to be measured on cannot be reached: nothing is known about it."""

    def __str__(self) -> str:
        return self.value


class MachineLost(TuneError):
    """What candidates are measured on cannot be reached, or does not take them."""


@dataclass(frozen=True)
class Outcome:
    """The result of a trial.

    seconds: of single runs; of CPU time for a program of one thread, of wall time for parallel loops.
    stages: CPU seconds by stage (`build.lower`, `build.compile`, `measure.run`).
    reason: why it is not ok, or what was odd about the times.
    peak_memory: bytes that running took, None if it was not run or the system does not tell.
    machine: what it was measured on; "": this machine.
    """

    status: Status
    seconds: tuple[float, ...] = ()
    stages: dict[str, float] = field(default_factory=dict)
    reason: str = ""
    peak_memory: int | None = None
    machine: str = ""

    @property
    def median(self) -> float | None:
        """Seconds of a run; None if it was not measured."""
        return median(self.seconds) if self.seconds else None

    @property
    def outliers(self) -> tuple[float, ...]:
        """The runs that took more than twice the median."""
        limit = OUTLYING * (self.median or 0)
        return tuple(s for s in self.seconds if s > limit)

    def __str__(self) -> str:
        took = f"{1e3 * self.median:.3f} ms" if self.median is not None else ""
        return ", ".join(part for part in (self.status.value, took, self.reason) if part)
