"""Repeated timing: medians with the least and the greatest, contestants in turn."""

from __future__ import annotations

import gc
import math
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import repeat

TURN = 1e-3  # a turn takes at least this long: the clock and the loop around short calls do not count then
LEAST = 5  # rounds, whatever they take
FEWEST = 3  # rounds once the budget is spent twice


@dataclass(frozen=True)
class Stats:
    """Median, least and greatest of some measurements."""

    median: float
    least: float
    greatest: float
    runs: int

    @staticmethod
    def of(values: Sequence[float]) -> Stats:
        return Stats(statistics.median(values), min(values), max(values), len(values))

    def rate(self, work: float) -> Stats:
        """The same as work a second."""
        return Stats(work / self.median, work / self.greatest, work / self.least, self.runs)

    def times(self, factor: float) -> Stats:
        return Stats(self.median * factor, self.least * factor, self.greatest * factor, self.runs)


def geometric_mean(values: Sequence[float]) -> float:
    """The mean for ratios and rates: half as fast here and twice as fast there is even."""
    return math.exp(statistics.fmean(math.log(value) for value in values))


def seconds(call: Callable[[], object], calls: int = 1, clock: Callable[[], float] | None = None) -> float:
    """The time of one call, over that many in a row."""
    clock = clock or time.perf_counter
    start = clock()
    for _ in repeat(None, calls):
        call()
    return (clock() - start) / calls


def interleaved(
    contestants: Mapping[str, Callable[[], object]],
    *,
    budget: float = math.inf,
    rounds: int = 51,
    before: Callable[[], object] | None = None,
    clock: Callable[[], float] | None = None,
) -> dict[str, Stats]:
    """Time every contestant once a round, after a call that does not count: a slow moment of the machine hits all.

    Ends after so many rounds, or when the budget of seconds is spent, but not before LEAST rounds, or FEWEST when they
    are very slow. `before` is called ahead of each turn; a call that is not timed then wakes what it put to sleep.
    `clock`: of wall time when left out.
    """
    start = time.perf_counter()
    calls = {name: _calls(call) for name, call in contestants.items()}
    found: dict[str, list[float]] = {name: [] for name in contestants}
    gc.collect()
    gc.disable()
    try:
        for done in range(rounds):
            spent = time.perf_counter() - start
            if spent > budget and done >= (LEAST if spent < 2 * budget else FEWEST):
                break
            for name, call in contestants.items():
                if before is not None:
                    before()
                    call()
                found[name].append(seconds(call, calls[name], clock))
    finally:
        gc.enable()
    return {name: Stats.of(values) for name, values in found.items()}


def _calls(call: Callable[[], object]) -> int:
    """How many calls make a turn; it doubles until a turn is long enough, so that first calls, which are slow, do not
    decide."""
    if seconds(call) > 10 * TURN:
        return 1
    calls = 1
    while (took := seconds(call, calls) * calls) < TURN:
        calls = max(2 * calls, math.ceil(calls * TURN / max(took, 1e-9)) if took > TURN / 8 else 0)
    return calls
