"""How a program is timed: single runs, enough of them, no more than pays."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

SHORTEST = 2e-3
"""Seconds of a sample: a shorter run is repeated, so that reading the clock does not count."""
FEWEST, MOST = 3, 9
BUDGET = 0.03
"""Seconds of all samples, if there are enough."""
HOPELESS = 3
"""What takes this many times as long as the best is not measured again."""


@dataclass(frozen=True)
class Clock:
    """How time is measured: CPU time for one thread, wall time for several, which then need more samples."""

    now: Callable[[], float]
    fewest: int
    budget: float

    def seconds_per_run(self, run: Callable[[], None], times: int = 1) -> float:
        """Seconds of one run, the mean of several in a row."""
        start = self.now()
        for _ in range(times):
            run()
        return (self.now() - start) / times


@dataclass(frozen=True)
class GpuClock(Clock):
    """The clock of a GPU: runs are calls of a function of kernels, by `partial`."""

    now: Callable[[], float] = time.perf_counter
    fewest: int = FEWEST
    budget: float = BUDGET

    def seconds_per_run(self, run: Callable[[], None], times: int = 1) -> float:
        assert isinstance(run, partial)
        return run.func.seconds(run.args, times)[0]


def clock_of(parallel: bool, kernels: bool = False) -> Clock:
    """The clock for a program with or without parallel loops, or for one of kernels on a GPU."""
    if kernels:
        return GpuClock()
    return (
        Clock(time.perf_counter, 2 * FEWEST + 1, 3 * BUDGET) if parallel else Clock(time.process_time, FEWEST, BUDGET)
    )


def repeats(seconds: float) -> int:
    """How many runs make a sample, if one takes this long."""
    return max(1, round(SHORTEST / max(seconds, 1e-7)))


def sample(run: Callable[[], None], clock: Clock, best: float | None) -> tuple[list[float], bool]:
    """Seconds of single runs, and whether it is hopeless against the best. The caches are warm: it has run before."""
    first = clock.seconds_per_run(run)
    if hopeless(first, best) and hopeless(second := clock.seconds_per_run(run), best):
        return [first, second], True
    times, seconds = repeats(first), []
    if times == 1:
        seconds.append(first)
    while len(seconds) < clock.fewest or (len(seconds) < MOST and sum(seconds) * times < clock.budget):
        seconds.append(clock.seconds_per_run(run, times))
    return seconds, False


def hopeless(seconds: float, best: float | None) -> bool:
    """Whether a run takes more than three times as long as the best."""
    return best is not None and seconds > HOPELESS * best


def sample_interleaved(runs: Sequence[Callable[[], None]], clock: Clock, rounds: int) -> list[list[float]]:
    """Seconds by run and round. Each round begins with another one, so that none has a position of its own."""
    times = [repeats(clock.seconds_per_run(run)) for run in runs]
    seconds: list[list[float]] = [[] for _ in runs]
    for iteration in range(rounds):
        for n in range(len(runs)):
            index = (n + iteration) % len(runs)
            seconds[index].append(clock.seconds_per_run(runs[index], times[index]))
    return seconds
