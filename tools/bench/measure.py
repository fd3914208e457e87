"""Repeated, interleaved timing: median, minimum and maximum."""

from __future__ import annotations

import gc
import math
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import repeat

import numpy as np

TURN = 1e-3  # minimum seconds per turn, to amortize the clock and the loop around short calls
WARM = 30e-3  # seconds of untimed calls before a turn: a system moves threads that slept apart after some milliseconds
LEAST = 5  # minimum rounds
FEWEST = 3  # minimum rounds when twice the budget is spent


@dataclass(frozen=True)
class Stats:
    """Median, minimum and maximum of some measurements."""

    median: float
    least: float
    greatest: float
    runs: int

    @staticmethod
    def of(values: Sequence[float]) -> Stats:
        return Stats(statistics.median(values), min(values), max(values), len(values))

    def rate(self, work: float) -> Stats:
        """Convert seconds to rates: `work` per second."""
        return Stats(work / self.median, work / self.greatest, work / self.least, self.runs)

    def times(self, factor: float) -> Stats:
        return Stats(self.median * factor, self.least * factor, self.greatest * factor, self.runs)


def geometric_mean(values: Sequence[float]) -> float:
    """Return the geometric mean, which is the right one for ratios and rates."""
    return math.exp(statistics.fmean(math.log(value) for value in values))


def rank_correlation(first: Sequence[float], second: Sequence[float]) -> float:
    """Spearman's: 1 for the same order, 0 for none; equal values share their ranks."""
    ranks = [_ranks(np.asarray(values, float)) for values in (first, second)]
    if min(r.std() for r in ranks) == 0:
        return 0.0
    return float(np.corrcoef(ranks[0], ranks[1])[0, 1])


def _ranks(values: np.ndarray) -> np.ndarray:
    _, position, count = np.unique(values, return_inverse=True, return_counts=True)
    return (np.cumsum(count) - (count - 1) / 2)[position]


def seconds(call: Callable[[], object], calls: int = 1, clock: Callable[[], float] | None = None) -> float:
    """Return the seconds per call, averaged over `calls` calls."""
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
    """Time every contestant once per round after one untimed call, so that a slow phase of the machine affects all of
    them.

    Stop after `rounds` rounds or when the budget in seconds is spent, but not before LEAST rounds, or FEWEST for very
    slow calls. `before` runs ahead of each turn, followed by untimed calls that restore what it idled. `clock`
    defaults to wall time.
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
                    _warm(call)
                found[name].append(seconds(call, calls[name], clock))
    finally:
        gc.enable()
    return {name: Stats.of(values) for name, values in found.items()}


def _warm(call: Callable[[], object]) -> None:
    """Call until the threads of a library run, each on its own core."""
    end = time.perf_counter() + WARM
    call()
    while time.perf_counter() < end:
        call()


def clock_for(shared: bool, threads: int) -> Callable[[], float] | None:
    """CPU time for works of one thread on a machine that others use; None, wall time, otherwise."""
    return time.thread_time if shared and threads == 1 else None


def _calls(call: Callable[[], object]) -> int:
    """Return the calls per turn; doubles until a turn is long enough, so that slow first calls do not decide."""
    if seconds(call) > 10 * TURN:
        return 1
    calls = 1
    while (took := seconds(call, calls) * calls) < TURN:
        calls = max(2 * calls, math.ceil(calls * TURN / max(took, 1e-9)) if took > TURN / 8 else 0)
    return calls
