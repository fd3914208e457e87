"""Ranks candidates for a GPU or a CPU that this machine does not have: nothing runs, their times are predicted.

Results are not compared: nothing is computed. A candidate is a schedule, whose steps are proved, and the winner is
verified as any.
"""

from __future__ import annotations

import os
import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from mlir import ir

from tir_mlir.dialect.diagnostics import BuildError
from tir_mlir.dialect.ir import enter_context
from tir_mlir.prediction import Prediction, core_of, predict
from tir_mlir.ptx.prediction.cards import find_card
from tir_mlir.ptx.program import predict_function, sample_arguments
from tir_mlir.runtime.library import Library
from tir_mlir.runtime.timing import Timing
from tir_mlir.target import AnyTarget, ptx_target, resolved
from tir_mlir.tune.trials.job import Job
from tir_mlir.tune.trials.local_measurer import LocalMeasurer, register_kernels, signature_of
from tir_mlir.tune.trials.outcome import Outcome, Status

CYCLES_A_SECOND = 3e9
"""Of every CPU that is not here: its cycles are predicted, not its clock."""


@dataclass(frozen=True)
class PredictingMeasurer(ABC):
    """name: of what times are predicted for."""

    name: str

    @property
    def lane(self) -> str:
        """A process has its own: predictions do not disturb each other."""
        return f"prediction of process {os.getpid()}"

    @property
    def machine(self) -> str:
        """What records say of where their times are from."""
        return f"predicted for {self.name}"

    @abstractmethod
    def build(self, job: Job) -> Any:
        """What times are predicted of. Raises TirError."""

    @abstractmethod
    def predict(self, built: Any, job: Job) -> float:
        """Seconds of a call. Raises TirError."""

    def measure(self, built: Any, job: Job) -> Outcome:
        """The predicted seconds. Raises TirError."""
        start = time.process_time()
        seconds = self.predict(built, job)
        stages = {"predict": time.process_time() - start}
        return Outcome(Status.OK, (seconds,), stages, machine=self.machine)

    def compare(self, built: Sequence[Any], jobs: Sequence[Job], rounds: int) -> list[list[float]]:
        """A prediction is the same in each round."""
        return [[self.predict(one, job)] for one, job in zip(built, jobs, strict=True)]


class GPUPredictor(PredictingMeasurer):
    """A GPU by the rates of its card, as `tir_mlir.ptx.prediction.CARDS` names it."""

    def build(self, job: Job) -> Library:
        return LocalMeasurer().build(job)

    def predict(self, built: Library, job: Job) -> float:
        signature = signature_of(built, job.function)
        args = sample_arguments(signature, filled=False, sizes=dict(job.sizes))
        return predict_function(built[signature.name], args, self.name).seconds


@dataclass
class PredictedCode:
    """The prediction of a candidate, and what it took to make."""

    prediction: Prediction
    timing: Timing = field(default_factory=Timing)


class CPUPredictor(PredictingMeasurer):
    """A CPU by the model of its core (`tir_mlir.prediction`), on one thread."""

    def build(self, job: Job) -> PredictedCode:
        register_kernels(job)
        timing = Timing()
        with timing.clock("predict"):
            with enter_context():
                module = ir.Module.parse(job.text)
            return PredictedCode(predict(module, job.target), timing)

    def predict(self, built: PredictedCode, job: Job) -> float:
        return built.prediction.likely_cycles / CYCLES_A_SECOND


def name_if_absent(target: AnyTarget | str | None) -> str:
    """The GPU or the core for which times are predicted, as this machine does not run the target; "": it does.

    Raises BuildError for a GPU whose rates, or a CPU whose core, is not known.
    """
    gpu = ptx_target(target)
    if gpu is not None:
        return "" if gpu.hindrance is None else find_card(None, gpu.capability).name
    cpu = resolved(target).as_cpu()
    return "" if cpu.runs_here else core_of(cpu).name


def has_model(target: AnyTarget) -> bool:
    """Whether times can be predicted for a CPU."""
    if not target.is_cpu:
        return False
    try:
        return bool(core_of(target.as_cpu()))
    except BuildError:
        return False


def predictor(target: AnyTarget | str | None, name: str) -> PredictingMeasurer:
    """What predicts times for a target, by the name of its GPU or core."""
    return CPUPredictor(name) if ptx_target(target) is None else GPUPredictor(name)
