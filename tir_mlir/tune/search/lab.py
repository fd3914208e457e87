"""Where candidates are built and measured: the worker processes of `trials`, and the reference of one program."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol

from tir_mlir.dialect.diagnostics import TuneError
from tir_mlir.schedule import Schedule
from tir_mlir.target import AnyTarget
from tir_mlir.tune.boards.board_pool import BoardPool
from tir_mlir.tune.trials.job import Job, Measurer, TrialLimits, job_of
from tir_mlir.tune.trials.outcome import Outcome, Status
from tir_mlir.tune.trials.pool import TrialPool
from tir_mlir.tune.trials.predicting_measurer import CPUPredictor, PredictingMeasurer
from tir_mlir.tune.trials.reference import Reference

if TYPE_CHECKING:
    from tir_mlir.tune.records.program_identity import Program


class Lab(Protocol):
    """Builds and measures scheduled programs."""

    def start(self, schedule: Schedule, best: float | None) -> Future[Outcome]:
        """Begin to build and measure. best: seconds of the best so far."""
        ...

    def compare(self, schedules: Sequence[Schedule], rounds: int) -> list[list[float]]:
        """Seconds of programs that are run in turns, by program; none for one that fails."""
        ...


class NoReference(TuneError):
    """There is nothing to compare the candidates of a program with."""


SAME = "the same program as an earlier candidate"


class PoolLab:
    """A lab of worker processes on this machine, whose results are compared with those of the unscheduled program.

    Different decisions may give the same program text: it is built and measured once, and answered from memory then.
    """

    def __init__(self, pool: TrialPool, sizes: Mapping[str, int], boards: Sequence[Measurer] = (), **options: Any):
        self.pool, self.sizes, self.options = pool, sizes, options
        self._crew = BoardPool(boards)
        self.reference: Reference | None = None
        self.predicts: PredictingMeasurer | None = options.get("runner")
        self.machine = "" if self.predicts is None else self.predicts.machine
        """What programs were compared on last, if not on this machine."""
        self._known: dict[tuple[str, Reference | None], Future[Outcome]] = {}

    def refer_to(self, program: Program, stand_in: Schedule | None) -> None:
        """Compute what candidates are compared with; predictions compute nothing. Raises NoReference if that is
        impossible."""
        if self.predicts is not None:
            return
        job = self._job(program, None)
        try:
            self.reference = self.pool.reference(job, None if stand_in is None else self._job(stand_in, None))
        except TuneError as error:
            raise NoReference(str(error)) from error

    def start(self, schedule: Schedule, best: float | None) -> Future[Outcome]:
        job = self._job(schedule, best)
        key = job.text, job.reference
        if key in self._known and not _is_lost(self._known[key]):
            return _repeat_outcome(self._known[key])
        self._known[key] = started = self._submit(job)
        return started

    def predict(self, schedule: Schedule) -> Future[Outcome]:
        """Begin to predict how long a program takes on the CPU that it is for."""
        return self.pool.submit(replace(self._job(schedule, None), reference=None, runner=CPUPredictor("")))

    def _submit(self, job: Job) -> Future[Outcome]:
        """Give a job to the pool, or to a board, if there are boards."""
        return self._crew.submit(self.pool, job) if self._crew else self.pool.submit(job)

    def compare(self, schedules: Sequence[Schedule], rounds: int) -> list[list[float]]:
        jobs = [self._job(s, None) for s in schedules]
        if not self._crew:
            return self.pool.compare(jobs, rounds)
        self.machine, times = self._crew.compare(self.pool, jobs, rounds)
        return times

    def _job(self, program: Program, best: float | None) -> Job:
        return job_of(program, sizes=self.sizes, best=best, reference=self.reference, **self.options)


def _is_lost(future: Future[Outcome]) -> bool:
    """Whether nothing is known about a candidate, because its board was lost."""
    done = future.done() and not future.cancelled() and future.exception() is None
    return done and future.result().status is Status.LOST


def _repeat_outcome(earlier: Future[Outcome]) -> Future[Outcome]:
    """The outcome of an earlier candidate, once it is known, as that of another one, which cost nothing."""
    answer: Future[Outcome] = Future()

    def settle(finished: Future[Outcome]) -> None:
        if finished.cancelled():
            answer.cancel()
        elif (error := finished.exception()) is not None:
            answer.set_exception(error)
        else:
            outcome = finished.result()
            reason = f"{SAME}: {outcome.reason}" if outcome.reason else SAME
            answer.set_result(replace(outcome, stages={}, reason=reason))

    earlier.add_done_callback(settle)
    return answer


def job_options(
    target: AnyTarget | str | None,
    threads: int | None,
    timeout: float | None,
    seed: int | None,
    runner: Measurer | None = None,
) -> dict[str, Any]:
    """The fields of all jobs of a search. timeout: CPU seconds that a build, and the runs, may take."""
    limits = TrialLimits() if timeout is None else TrialLimits(build=timeout, run=timeout)
    named = "llvm" if target is None else target
    return {"target": named, "threads": threads, "limits": limits, "seed": seed or 0, "runner": runner}
