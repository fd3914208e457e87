"""The time of a run of models, measured in turns so that times can be compared."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

ROUNDS = 15
LEAST = 2e-3
"""Seconds of a sample: shorter runs are repeated in it."""


def interleaved(models: Sequence[Callable[..., Any]], inputs: Sequence[Any], threads: int) -> list[float]:
    """Seconds of a run of each model: the fastest of rounds in which they take turns; CPU time for one thread."""
    clock = time.process_time if threads == 1 else time.perf_counter
    counts = [_repeats(model, inputs) for model in models]
    best = [float("inf")] * len(models)
    for _ in range(ROUNDS):
        for n, (model, count) in enumerate(zip(models, counts, strict=True)):
            start = clock()
            for _ in range(count):
                model(*inputs)
            best[n] = min(best[n], (clock() - start) / count)
    return best


def _repeats(model: Callable[..., Any], inputs: Sequence[Any]) -> int:
    """How many runs a sample has."""
    model(*inputs)
    start = time.perf_counter()
    model(*inputs)
    return max(1, int(LEAST / max(time.perf_counter() - start, 1e-7)))
