"""One candidate of a search: built and run in a worker process, its results compared, its time measured."""

from tir_mlir.tune.trials.job import Job, KernelCode, Limits, Runner, job_of
from tir_mlir.tune.trials.outcome import Outcome, Status
from tir_mlir.tune.trials.pool import Pool, compare
from tir_mlir.tune.trials.reference import Reference

__all__ = ["Job", "KernelCode", "Limits", "Outcome", "Pool", "Reference", "Runner", "Status", "compare", "job_of"]
