"""Repeated timing: medians with the least and the greatest, contestants in turn."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass


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


def seconds(call: Callable[[], object]) -> float:
    """The time of one call."""
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def interleaved(contestants: Mapping[str, Callable[[], object]], rounds: int) -> dict[str, Stats]:
    """Time every contestant once a round, after a round that does not count: a slow moment of the machine hits all."""
    found: dict[str, list[float]] = {name: [] for name in contestants}
    gc.collect()
    for number in range(rounds + 1):
        for name, call in contestants.items():
            took = seconds(call)
            if number:
                found[name].append(took)
    return {name: Stats.of(values) for name, values in found.items()}
