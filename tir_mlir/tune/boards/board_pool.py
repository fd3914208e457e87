"""The boards of a search: each job to the one with the least to do; one that cannot be reached is left out."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from typing import Protocol

from tir_mlir.dialect.diagnostics import TuneError, TuneWarning
from tir_mlir.tune.trials.job import Job, Measurer
from tir_mlir.tune.trials.outcome import MachineLost, Outcome, Status

FAILURES = 3
"""How often in a row a board cannot be reached before it is left out."""
TRIES = 3
"""How many boards a candidate may lose: it may be what brings them down."""


class Runs(Protocol):
    """What runs jobs, see `Pool`."""

    def submit(self, job: Job) -> Future[Outcome]: ...

    def compare(self, jobs: Sequence[Job], rounds: int = 15) -> list[list[float]]: ...


@dataclass(eq=False)
class _Board:
    runner: Measurer
    busy: int = 0
    failures: int = 0
    """In a row."""
    asked: int = 0
    """When it was chosen last."""


class BoardPool:
    """Boards that run jobs; false if there are none to begin with."""

    def __init__(self, boards: Sequence[Measurer]):
        self._members = [_Board(board) for board in boards]
        self._count = len(boards)
        self._last, self._turn = "", 0
        self._lock = threading.Lock()

    def __bool__(self) -> bool:
        return self._count > 0

    def submit(self, pool: Runs, job: Job) -> Future[Outcome]:
        """Run a job on a board, and on another one if that is lost; after three of them it is an outcome, LOST.

        The future raises TuneError if no board is left.
        """
        answer: Future[Outcome] = Future()
        self._try(pool, job, answer, TRIES)
        return answer

    def compare(self, pool: Runs, jobs: Sequence[Job], rounds: int) -> tuple[str, list[list[float]]]:
        """Times of jobs in turns, all on one board, and what the board is called. Raises TuneError if none is left."""
        while True:
            with self._lock:
                member = self._least_busy_board()
            try:
                times = pool.compare([replace(job, runner=member.runner) for job in jobs], rounds)
            except MachineLost as lost:
                self._count_failure(member, str(lost))
                continue
            return member.runner.lane, times

    def _least_busy_board(self) -> _Board:
        """Who has the least to do, in turns. Raises TuneError if none is left."""
        if not self._members:
            raise TuneError(
                f"none of the boards is left ({self._count} at first): {self._last}; fix: see to the boards, then run "
                "again with the same work_dir or storage: what was tried is taken up"
            )
        self._turn += 1
        board = min(self._members, key=lambda member: (member.busy, member.asked))
        board.asked = self._turn
        return board

    def _try(self, pool: Runs, job: Job, answer: Future[Outcome], tries: int) -> None:
        try:
            with self._lock:
                member = self._least_busy_board()
                member.busy += 1
            future = pool.submit(replace(job, runner=member.runner))
        except TuneError as error:  # no board is left, or the pool is closed
            answer.set_exception(error)
            return
        future.add_done_callback(lambda done: self._finish_job(pool, job, answer, tries, member, done))

    def _finish_job(
        self, pool: Runs, job: Job, answer: Future[Outcome], tries: int, member: _Board, done: Future[Outcome]
    ) -> None:
        """Pass on what became of a job, or try it again."""
        with self._lock:
            member.busy -= 1
        if done.cancelled():
            answer.cancel()
        elif (error := done.exception()) is not None:
            answer.set_exception(error)
        elif (outcome := done.result()).status is not Status.LOST:
            member.failures = 0 if outcome.machine else member.failures  # a candidate that is not built tells nothing
            answer.set_result(outcome)
        else:
            self._count_failure(member, outcome.reason)
            if tries > 1 or not self._members:
                self._try(pool, job, answer, tries - 1)
            else:
                answer.set_result(outcome)

    def _count_failure(self, member: _Board, reason: str) -> None:
        """Count a failure of a board; the last one that is allowed ends its part in the search, with a warning."""
        with self._lock:
            member.failures += 1
            self._last = reason
            if member.failures < FAILURES or member not in self._members:
                return
            self._members.remove(member)
            count = len(self._members)
        text = f"{member.runner.lane} is left out after {FAILURES} failures in a row: {reason}; boards left: {count}"
        warnings.warn(text, TuneWarning, stacklevel=2)
