"""How many trials the predicted order saves: candidates of a program, all predicted and measured once.

python -m searches.predicted_order COUNT NUMBER...

The first ten by prediction and the fifteen fastest are measured again in turns. A line a program: the least time of the
first ten, and of the library's choice, over that of all.
"""

from __future__ import annotations

import random
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace

from searches.ten_programs import TEN, SearchedProgram
from tir_mlir import Schedule
from tir_mlir.dialect.ir import held_module
from tir_mlir.prediction import predict
from tir_mlir.script.module import IRModule, module_text
from tir_mlir.target import resolved
from tir_mlir.tune.search.candidates import draw_candidate
from tir_mlir.tune.search.lab import job_options
from tir_mlir.tune.search.tuner import library_space
from tir_mlir.tune.spaces.deciders import Defaults
from tir_mlir.tune.trials.job import Job, job_of
from tir_mlir.tune.trials.local_measurer import LocalMeasurer

FIRST, FASTEST, ROUNDS = 10, 15, 31
NEAR = 0.7
"""The probability of a default decision in every second candidate; the others are uniform."""


class _Near:
    def __init__(self, draw: random.Random, probability: float):
        self.draw, self.probability = draw, probability

    def choose(self, name: str, candidates: Sequence[int], weights: Sequence[float]) -> int:
        default = max(range(len(candidates)), key=lambda n: weights[n])
        return default if self.draw.random() < self.probability else self.draw.randrange(len(candidates))


def candidates(program: IRModule, count: int) -> Iterator[Schedule]:
    """The library's choice, then others, each text once."""
    draw, space, seen = random.Random(0), library_space(resolved(None), 1), set()
    for number in range(3 * count):
        decider = _Near(draw, NEAR if number % 2 else 0.0) if number else Defaults()
        schedule = draw_candidate(program, space, decider).schedule
        module = held_module(schedule)
        if schedule is None or module is None or (text := module_text(module)) in seen:
            continue
        seen.add(text)
        yield schedule
        if len(seen) == count:
            return


def row(one: SearchedProgram, count: int) -> str:
    module = held_module(one.make())
    assert module is not None
    program, measurer, options = IRModule(module), LocalMeasurer(), job_options(None, 1, None, 0)
    with tempfile.TemporaryDirectory() as folder:
        plain = job_of(program, **options)
        reference = measurer.reference(measurer.build(plain), plain, folder, "the unscheduled program")
        found: list[tuple[Job, float, float]] = []
        for schedule in candidates(program, count):
            best = min((seconds for _, seconds, _ in found), default=None)  # what is three times slower is given up
            job = replace(job_of(schedule, **options), reference=reference, best=best)
            outcome = measurer.measure(measurer.build(job), job)
            if outcome.median is not None:
                found.append((job, min(outcome.seconds), predict(schedule).likely_cycles))
        by_prediction = sorted(range(len(found)), key=lambda n: found[n][2])[:FIRST]
        by_time = sorted(range(len(found)), key=lambda n: found[n][1])[:FASTEST]
        again = list(dict.fromkeys([0, *by_prediction, *by_time]))
        jobs = [found[n][0] for n in again]
        times = measurer.compare([measurer.build(job) for job in jobs], jobs, ROUNDS)
    least = {n: min(seconds) for n, seconds in zip(again, times, strict=True) if seconds}
    best, first = min(least.values()), min(least[n] for n in by_prediction if n in least)
    return f"{one.name:<42} {len(found):>4} {first / best:>6.3f} {least[0] / best:>6.3f}"


if __name__ == "__main__":
    print(f"{'program':<42} {'pool':>4} {'first':>6} {'ours':>6}")
    for which in map(int, sys.argv[2:] or range(len(TEN))):
        print(row(TEN[which], int(sys.argv[1])), flush=True)
