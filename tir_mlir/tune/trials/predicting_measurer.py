"""Ranks candidates for a GPU that this machine does not have: nothing runs, their times are predicted."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass

from tir_mlir.ptx.program import ProgramPrediction, predict_function, sample_arguments
from tir_mlir.runtime.library import Library
from tir_mlir.tune.trials.job import Job
from tir_mlir.tune.trials.local_measurer import LocalMeasurer, signature_of
from tir_mlir.tune.trials.outcome import Outcome, Status


@dataclass(frozen=True)
class PredictingMeasurer:
    """A GPU by its rates. card: its name in `tir_mlir.ptx.prediction.CARDS`.

    Results are not compared: nothing is computed. A candidate is a schedule, whose steps are proved, and the winner is
    verified as any.
    """

    card: str

    @property
    def lane(self) -> str:
        """A process has its own: predictions do not disturb each other."""
        return f"prediction of process {os.getpid()}"

    @property
    def machine(self) -> str:
        """What records say of where their times are from."""
        return f"predicted for {self.card}"

    def build(self, job: Job) -> Library:
        return LocalMeasurer().build(job)

    def measure(self, built: Library, job: Job) -> Outcome:
        """The predicted seconds. Raises BuildError, PtxError."""
        start = time.process_time()
        seconds = self._predict(built, job).seconds
        stages = {"predict": time.process_time() - start}
        return Outcome(Status.OK, (seconds,), stages, machine=self.machine)

    def compare(self, built: Sequence[Library], jobs: Sequence[Job], rounds: int) -> list[list[float]]:
        """A prediction is the same in each round."""
        return [[self._predict(library, job).seconds] for library, job in zip(built, jobs, strict=True)]

    def _predict(self, built: Library, job: Job) -> ProgramPrediction:
        signature = signature_of(built, job.function)
        args = sample_arguments(signature, filled=False, sizes=dict(job.sizes))
        return predict_function(built[signature.name], args, self.card)
