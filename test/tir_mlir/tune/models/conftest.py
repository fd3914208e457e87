"""Searches over a model with given times: nothing is built or measured but the model."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from typing import ClassVar

import pytest
from harness.searches import FakeLab

from tir_mlir.tune.models import tune_model
from tir_mlir.tune.models.tasks import tasks_of
from tir_mlir.tune.search import tuner
from tir_mlir.tune.search.lab import NoReference


class TimedLab(FakeLab):
    """Candidates take 1 ms, those by generic rules half of it. `stop_at`: the candidate that Ctrl-C comes before."""

    started: ClassVar[list[str]] = []
    stop_at: int | None = None
    without_reference: tuple[str, ...] = ()
    machine = ""

    def __init__(self, pool, sizes, boards=(), **options):
        super().__init__(lambda decisions: 5e-4 if 1 in [decisions[d] for d in decisions if "generic" in d] else 1e-3)
        self.sizes = dict(sizes)

    def refer_to(self, program, stand_in):
        self.name = next(iter(program.prim_funcs))
        if self.name in self.without_reference:
            raise NoReference("it has no result")

    def start(self, schedule, best):
        type(self).started.append(self.name)
        if len(type(self).started) == self.stop_at:
            raise KeyboardInterrupt
        return super().start(schedule, best)


def a_millisecond_a_call(*args):
    """The functions of a model with given times."""
    return [replace(task, seconds=1e-3 * task.calls, least=0.0) for task in tasks_of(*args)]


@pytest.fixture
def lab(monkeypatch):
    monkeypatch.setattr(TimedLab, "started", [])
    monkeypatch.setattr(tuner, "PoolLab", TimedLab)
    monkeypatch.setattr(tune_model, "tasks_of", a_millisecond_a_call)
    monkeypatch.setattr(
        tune_model, "task_seconds", lambda before, after, tasks, inputs: {t.name: (2e-3, 1e-3) for t in tasks}
    )
    monkeypatch.setattr(tune_model, "TrialPool", lambda builders: nullcontext())
    return TimedLab
