"""Searches as a user runs them: what they find, and what they cost in CPU time."""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from compiling import Cost
from measure import Stats
from tir_mlir import Schedule, tune
from tir_mlir.script import IRModule, PrimFunc
from tir_mlir.tune.records.recorded_program import recorded_program
from tir_mlir.tune.search.samplers import sampler_of

TRIALS = 32
SEED = 1
SAMPLER_GOAL = "<= 10"
"""Milliseconds of the sampler a candidate."""
_ASKED = ("before_trial", "infer_relative_search_space", "sample_relative", "sample_independent", "after_trial")


@dataclass
class Searches:
    """Searches in one database, on one thread, and what each of them cost.

    folder: of the database. trials: of a search; 0 to take what the database has.
    """

    folder: Path
    trials: int = TRIALS
    sampler: str = "tpe"
    costs: list[Cost] = field(default_factory=list)

    def best(self, name: str, program: PrimFunc, trials: int | None = None, limit: float | None = None) -> IRModule:
        """The best schedule of a program. trials: other than for all searches. limit: CPU seconds of a median trial.

        Raises TuneError for a database without a record of the program that is not to be searched.
        """
        trials = trials if self.trials and trials is not None else self.trials
        if trials:
            return self._search(name, program, trials, limit).schedule.mod
        record = tune.Database(self.folder, threads=1).best(program)
        if record is None:
            raise tune.TuneError(f"{self.folder} has no record of {name}; fix: search first, with --trials {TRIALS}")
        return IRModule(recorded_program(record, program.isolated_module.mlir))

    def _search(self, name: str, program: PrimFunc, trials: int, limit: float | None) -> Any:
        sampler, took = sampler_of(self.sampler, SEED), Took()
        for method in _ASKED:
            setattr(sampler, method, took.timed(getattr(sampler, method)))
        start = processor_seconds()
        best = tune.tune(
            program, trials=trials, work_dir=self.folder, sampler=sampler, seed=SEED, threads=1, resume=False
        )
        busy, group = processor_seconds() - start, f"search, {name}, {trials} trials"
        each = [1e3 * sum(trial.stages.values()) for trial in best.trials]
        goal = None if limit is None else f"<= {1e3 * limit:g}"
        self.costs.append(Cost(group, "all of it", "s", Stats.of([busy])))
        self.costs.append(Cost(group, "a trial", "ms", Stats.of(each), goal))
        if took.seconds:
            self.costs.append(Cost(group, "the sampler, a candidate", "ms", took.stats().times(1e3), SAMPLER_GOAL))
        for stage in best.trials[0].stages:
            values = [1e3 * trial.stages.get(stage, 0.0) for trial in best.trials]
            if statistics.median(values) >= 1:
                self.costs.append(Cost(group, f"a trial: {stage}", "ms", Stats.of(values)))
        return best


class Took:
    """The CPU seconds of the calls that make one candidate."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    def timed(self, call: Callable[..., Any]) -> Callable[..., Any]:
        """The call, which adds to the seconds of the candidate that it is part of."""

        def measured(*arguments: Any, **named: Any) -> Any:
            if call.__name__ == _ASKED[0]:
                self.seconds.append(0.0)
            start = time.thread_time()
            try:
                return call(*arguments, **named)
            finally:
                self.seconds[-1:] = [self.seconds[-1] + time.thread_time() - start] if self.seconds else []

        return measured

    def stats(self) -> Stats:
        return Stats.of(self.seconds)


def processor_seconds() -> float:
    """CPU seconds of this process and of all its children that have ended."""
    return sum(os.times()[:4])


def library_choice(program: PrimFunc) -> IRModule:
    """The library's schedule of a program, without a search."""
    from tir_mlir import schedules

    sch = Schedule(program)
    schedules.auto(sch, threads=1)
    return sch.mod
