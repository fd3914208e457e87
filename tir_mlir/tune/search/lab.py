"""Where candidates are built and measured: the worker processes of `trials`, and the reference of one program."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import replace
from typing import Any, Protocol

from tir_mlir.schedule import Schedule
from tir_mlir.target import Target
from tir_mlir.tune.trials.job import Job, Limits, Runner, job_of
from tir_mlir.tune.trials.outcome import Outcome
from tir_mlir.tune.trials.pool import Pool
from tir_mlir.tune.trials.reference import Reference


class Lab(Protocol):
    """Builds and measures scheduled programs."""

    def start(self, schedule: Schedule, best: float | None) -> Future[Outcome]:
        """Begin to build and measure. best: seconds of the best so far."""
        ...

    def compare(self, schedules: Sequence[Schedule], rounds: int) -> list[list[float]]:
        """Seconds of programs that are run in turns, by program; none for one that fails."""
        ...


SAME = "the same program as an earlier candidate"


class PoolLab:
    """A lab of worker processes on this machine, whose results are compared with those of the unscheduled program.

    Different decisions may give the same program text: it is built and measured once, and answered from memory then.
    """

    def __init__(self, pool: Pool, sizes: Mapping[str, int], boards: Sequence[Runner] = (), **options: Any):
        self.pool, self.sizes, self.boards, self.options = pool, sizes, boards, options
        self._busy = [0] * len(boards)
        self.reference: Reference | None = None
        self._known: dict[tuple[str, Reference | None], Future[Outcome]] = {}

    def refer_to(self, program: Any, stand_in: Schedule | None) -> None:
        """Compute what candidates are compared with. Raises TuneError if there is no way to."""
        job = self._job(program, None)
        self.reference = self.pool.reference(job, None if stand_in is None else self._job(stand_in, None))

    def start(self, schedule: Schedule, best: float | None) -> Future[Outcome]:
        job = self._job(schedule, best)
        key = job.text, job.reference
        if key in self._known:
            return _answered(self._known[key])
        self._known[key] = started = self._submit(job)
        return started

    def _submit(self, job: Job) -> Future[Outcome]:
        """Give a job to the pool, for the board with the least to do, if there are boards."""
        if not self.boards:
            return self.pool.submit(job)
        at = self._busy.index(min(self._busy))
        future = self.pool.submit(replace(job, runner=self.boards[at]))
        self._busy[at] += 1
        future.add_done_callback(lambda _: self._free(at))
        return future

    def _free(self, at: int) -> None:
        self._busy[at] -= 1

    def compare(self, schedules: Sequence[Schedule], rounds: int) -> list[list[float]]:
        runner = self.boards[0] if self.boards else None  # one board: times of two are not compared
        return self.pool.compare([replace(self._job(s, None), runner=runner) for s in schedules], rounds)

    def _job(self, program: Any, best: float | None) -> Job:
        return job_of(program, sizes=self.sizes, best=best, reference=self.reference, **self.options)


def _answered(known: Future[Outcome]) -> Future[Outcome]:
    """The outcome of an earlier candidate, once it is known, as that of another one, which cost nothing."""
    answer: Future[Outcome] = Future()

    def settle(known: Future[Outcome]) -> None:
        if known.cancelled():
            answer.cancel()
        elif (error := known.exception()) is not None:
            answer.set_exception(error)
        else:
            outcome = known.result()
            reason = f"{SAME}: {outcome.reason}" if outcome.reason else SAME
            answer.set_result(replace(outcome, stages={}, reason=reason))

    known.add_done_callback(settle)
    return answer


def job_options(
    target: Target | str | None, threads: int | None, timeout: float | None, seed: int | None
) -> dict[str, Any]:
    """The fields of all jobs of a search. timeout: CPU seconds that a build, and the runs, may take."""
    limits = Limits() if timeout is None else Limits(build=timeout, run=timeout)
    named = "llvm" if target is None else target
    return {"target": named, "threads": threads, "limits": limits, "seed": seed or 0}
