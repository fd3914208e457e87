"""The finals: the best candidates and the library's choice, measured again in turns; the winner is verified."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from tir_mlir.dialect.diagnostics import NotChecked, TuneError, TuneWarning
from tir_mlir.schedule import Schedule
from tir_mlir.tune.records.comparison import ScheduleDiffers, verify_schedule
from tir_mlir.tune.search.candidates import Candidate
from tir_mlir.tune.search.lab import Lab

FINALISTS = 3
ROUNDS = 15
GAIN = 1.01
"""How much faster than the library's choice a candidate must be; else the library's choice is taken."""
LIBRARY = "library"


@dataclass
class Finals:
    """The winner, and the seconds of all finalists by round. verified: what `sch.verify()` said; "" if not asked."""

    winner: Candidate
    seconds: dict[str, list[float]] = field(default_factory=dict)
    verified: str = ""
    notes: list[str] = field(default_factory=list)

    @property
    def best(self) -> float | None:
        """Seconds of the winner: the fastest of its rounds."""
        return min(self.seconds.get(label(self.winner), ()), default=None)

    @property
    def library(self) -> float | None:
        """Seconds of the library's choice: the fastest of its rounds."""
        return min(self.seconds.get(LIBRARY, ()), default=None)


def label(candidate: Candidate) -> str:
    """The name of a finalist."""
    return LIBRARY if candidate.origin == LIBRARY else f"trial {candidate.number}"


def finals(
    candidates: Sequence[Candidate],
    library: Candidate | None,
    lab: Lab,
    rounds: int = ROUNDS,
    verify: Callable[[Schedule], str] | None = None,
) -> Finals:
    """Measure candidates and the library's choice in turns; verify the fastest, and on failure the next one.

    The library's choice wins unless another one is faster by 1 %. Raises TuneError if none can be run, or none passes
    verification.
    """
    entered = [c for c in (library, *candidates) if c is not None and c.schedule is not None]
    if not entered:
        raise TuneError("no candidate ran: no best schedule; fix: see the reasons of the trials")
    times = lab.compare([c.schedule for c in entered if c.schedule is not None], rounds)
    ran = [(min(seconds), c) for seconds, c in zip(times, entered, strict=True) if seconds]
    if not ran:
        raise TuneError("none of the best candidates could be run again; fix: see the reasons of the trials")
    result = Finals(ran[0][1], {label(c): seconds for seconds, c in zip(times, entered, strict=True)})
    limit = next((seconds / GAIN for seconds, c in ran if c is library), float("inf"))
    for _, candidate in sorted(((s, c) for s, c in ran if s <= limit or c is library), key=lambda entry: entry[0]):
        result.winner = candidate
        if _passes(candidate, result, verify or verify_schedule):
            return result
    raise TuneError(
        "neither the library's choice nor a faster candidate passes verification; " + "; ".join(result.notes)
    )


def _passes(candidate: Candidate, finals: Finals, verify: Callable[[Schedule], str]) -> bool:
    assert candidate.schedule is not None
    try:
        finals.verified = verify(candidate.schedule)
        return True
    except NotChecked as reason:
        finals.verified = ""
        finals.notes.append(f"{label(candidate)} is not verified: {reason}; its results were compared on data")
        return True
    except ScheduleDiffers as difference:
        finals.notes.append(f"{label(candidate)} is not equal to the program: {difference}")
        warnings.warn(f"{finals.notes[-1]}; the next one is taken", TuneWarning, stacklevel=4)
        return False
