"""Runners that stand for another machine, in a module that a worker can import."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tir_mlir.tune.trials import Job, Outcome, Status
from tir_mlir.tune.trials.local_measurer import LocalMeasurer


@dataclass(frozen=True)
class Board:
    """A machine whose runs take as many seconds as the seed of the job."""

    name: str

    @property
    def lane(self) -> str:
        return self.name

    def build(self, job: Job) -> Any:
        return LocalMeasurer().build(job)

    def measure(self, built: Any, job: Job) -> Outcome:
        return Outcome(Status.OK, (float(job.seed),), {"measure.board": 0.0}, self.name)

    def compare(self, built: Sequence[Any], jobs: Sequence[Job], rounds: int) -> list[list[float]]:
        return [[float(job.seed)] * rounds for job in jobs]


@dataclass(frozen=True)
class Abort(Board):
    """A machine whose compiler aborts the process for a program with this seed."""

    culprit: int = 1

    def build(self, job: Job) -> Any:
        if job.seed == self.culprit:
            os.write(2, b"LLVM ERROR: out of ideas\n")
            os.abort()
        return super().build(job)


@dataclass(frozen=True)
class Endless(Board):
    """A machine whose compiler does not end."""

    def build(self, job: Job) -> Any:
        while True:
            pass


@dataclass(frozen=True)
class Hungry(Board):
    """A machine whose compiler takes memory until it is ended."""

    def build(self, job: Job) -> Any:
        taken = []
        while True:
            taken.append(bytearray(b"1" * (1 << 20)))
