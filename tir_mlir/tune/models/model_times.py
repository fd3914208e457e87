"""The time of a run of models, measured in turns so that times can be compared."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from tir_mlir.graph.model import Model
from tir_mlir.tune.models.tasks import Task

ROUNDS = 15
PROFILES, PROFILED = 5, 7
"""Turns of the models, and the runs of a turn."""
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


def inside(base: Model, tuned: Model, tasks: Sequence[Task], inputs: Sequence[Any]) -> dict[str, tuple[float, float]]:
    """Seconds of the calls of each function in a run of two models, by the name of its task: the fastest of rounds in
    which the models take turns."""
    best = {task.name: [float("inf"), float("inf")] for task in tasks}
    home = {name: task.name for task in tasks for name in task.functions}
    for _ in range(PROFILES):
        for n, model in enumerate((base, tuned)):
            totals = dict.fromkeys(best, 0.0)
            for call in model.profile(*inputs, rounds=PROFILED):
                if call.function in home:
                    totals[home[call.function]] += call.seconds
            for name, seconds in totals.items():
                best[name][n] = min(best[name][n], seconds)
    return {name: (base_seconds, tuned_seconds) for name, (base_seconds, tuned_seconds) in best.items()}


def _repeats(model: Callable[..., Any], inputs: Sequence[Any]) -> int:
    """How many runs a sample has."""
    model(*inputs)
    start = time.perf_counter()
    model(*inputs)
    return max(1, int(LEAST / max(time.perf_counter() - start, 1e-7)))
