"""The finals: the best candidates and the library's choice, measured again in turns; the winner is verified.

The fastest of several that are measured is likely one that was lucky. So it is measured once more, in turns with the
library's choice and in a process of its own, and wins by these rounds alone, if they show a gain beyond their noise.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from tir_mlir.dialect.diagnostics import NotChecked, TuneError, TuneWarning
from tir_mlir.schedule import Schedule
from tir_mlir.tune.records.comparison import ScheduleDiffers, verify_schedule
from tir_mlir.tune.search.candidates import Candidate
from tir_mlir.tune.search.lab import Lab

FINALISTS = 3
ROUNDS = 15
GAIN = 1.01
"""How many times as fast as the library's choice a candidate must be; else the library's choice is taken."""
SURE = 0.99
"""How certain the gain must be."""
_DRAWS = 2000
LIBRARY = "library"
NO_GAIN = "no candidate is faster than the library's choice beyond the noise"


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
    """Measure candidates and the library's choice in turns; confirm and verify the fastest, else the next one.

    The library's choice wins unless another one is faster by 1 %, and surely so when both are measured again. Raises
    TuneError if none can be run, or none passes verification.
    """
    entered = [c for c in (library, *candidates) if c is not None and c.schedule is not None]
    if not entered:
        raise TuneError("no candidate ran: no best schedule; fix: see the reasons of the trials")
    times = _compare(lab, entered, rounds)
    ran = [(min(seconds), c) for seconds, c in zip(times, entered, strict=True) if seconds]
    if not ran:
        raise TuneError("none of the best candidates could be run again; fix: see the reasons of the trials")
    result = Finals(ran[0][1], {label(c): seconds for seconds, c in zip(times, entered, strict=True)})
    against = library if any(c is library for _, c in ran) else None
    limit = next((seconds / GAIN for seconds, c in ran if c is against), float("inf"))
    faster = [c for seconds, c in sorted(ran, key=lambda entry: entry[0]) if c is not against and seconds <= limit]
    noise: list[str] = []
    for candidate in [*faster, *([against] if against else [])]:
        if candidate is not against and against and (reason := _confirm(candidate, against, lab, rounds, result)):
            noise.append(reason)
        elif _passes(candidate, result, verify or verify_schedule):
            result.winner = candidate
            if candidate is against and len(entered) > 1 and len(noise) == len(faster):
                result.notes.append("; ".join([NO_GAIN, *noise]))
            return result
    raise TuneError(
        "neither the library's choice nor a faster candidate passes verification; " + "; ".join(result.notes)
    )


def _compare(lab: Lab, entered: Sequence[Candidate], rounds: int) -> list[list[float]]:
    return lab.compare([c.schedule for c in entered if c.schedule is not None], rounds)


def _confirm(candidate: Candidate, library: Candidate, lab: Lab, rounds: int, result: Finals) -> str:
    """Measure a candidate and the library's choice alone, in twice as many rounds, which are kept if they show a gain
    beyond their noise. Returns what they show else, "" if they do."""
    times = _compare(lab, (candidate, library), 2 * rounds)
    if not all(times):
        return f"{label(candidate)} did not run again"
    gain, least = gain_of(*times)
    if least < GAIN or min(times[0]) >= min(times[1]):
        return f"{label(candidate)} is {gain:.3f} times as fast, for certain only {least:.3f} times"
    result.seconds |= {label(candidate): times[0], LIBRARY: times[1]}
    return ""


def gain_of(seconds: Sequence[float], of_library: Sequence[float]) -> tuple[float, float]:
    """How many times as fast a candidate is as the library's choice by rounds in turns: the median of their quotients,
    and what it is for certain, the lower end of its bootstrap interval."""
    quotients = np.divide(of_library, seconds)
    drawn = np.random.default_rng(0).choice(quotients, (_DRAWS, len(quotients)))
    return float(np.median(quotients)), float(np.quantile(np.median(drawn, axis=1), 1 - SURE))


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
