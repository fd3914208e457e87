"""One candidate of a search: built and run in a worker process, its results compared, its time measured."""

from tir_mlir.tune.trials.job import Job, Measurer, RegisteredKernel, TrialLimits, job_of
from tir_mlir.tune.trials.outcome import Outcome, Status
from tir_mlir.tune.trials.pool import TrialPool, compare
from tir_mlir.tune.trials.reference import Reference

__all__ = [
    "Job",
    "Measurer",
    "Outcome",
    "Reference",
    "RegisteredKernel",
    "Status",
    "TrialLimits",
    "TrialPool",
    "compare",
    "job_of",
]
