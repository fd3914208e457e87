"""The boards of a search: who gets a job, and what becomes of those that cannot be reached."""

from __future__ import annotations

import warnings
from concurrent.futures import Future
from dataclasses import dataclass

import pytest

from tir_mlir.errors import TuneError, TuneWarning
from tir_mlir.tune.boards.board_pool import BoardPool
from tir_mlir.tune.trials.job import Job
from tir_mlir.tune.trials.outcome import MachineLost, Outcome, Status


@dataclass(frozen=True)
class Named:
    """A runner that is nothing but a name."""

    lane: str


class Boards:
    """A pool whose boards are there or gone."""

    def __init__(self, *gone):
        self.gone, self.asked, self.open = set(gone), [], []

    def submit(self, job):
        name = job.runner.lane
        self.asked.append(name)
        future = Future()
        if name in self.gone:
            future.set_result(Outcome(Status.LOST, reason=f"{name} cannot be reached"))
        elif self.open is not None:
            future.set_result(Outcome(Status.OK, (1e-3,), machine=name))
        return future

    def compare(self, jobs, rounds=15):
        (name,) = {job.runner.lane for job in jobs}
        self.asked.append(name)
        if name in self.gone:
            raise MachineLost(f"{name} cannot be reached")
        return [[1e-3] * rounds for _ in jobs]


def crew(*names):
    return BoardPool([Named(name) for name in names])


def run(crew, pool, jobs=1):
    return [crew.submit(pool, Job("")).result(0) for _ in range(jobs)]


def test_a_board_that_is_gone_is_left_out_and_costs_no_candidate():
    made, pool = crew("a", "b"), Boards("a")
    with pytest.warns(TuneWarning, match=r"^a is left out after 3 failures in a row: a cannot be .*; boards left: 1$"):
        found = run(made, pool, 20)
    assert {(o.status, o.machine) for o in found} == {(Status.OK, "b")}
    assert pool.asked.count("a") == 3


def test_failures_that_are_not_in_a_row():
    made, pool = crew("a", "b"), Boards()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(5):
            pool.gone = {"a"}
            run(made, pool, 2)
            pool.gone = set()
            run(made, pool, 20)
    assert "a" in pool.asked[-20:]


def test_no_board_is_left():
    made, pool = crew("a"), Boards("a")
    with pytest.warns(TuneWarning, match="boards left: 0"), pytest.raises(TuneError) as told:
        run(made, pool)
    assert str(told.value).startswith("none of the boards is left (1 at first): a cannot be reached; fix: ")
    assert pool.asked == ["a"] * 3
    with pytest.raises(TuneError, match="none of the boards"):
        run(made, pool)


def test_a_candidate_that_brings_boards_down_gets_three():
    names = "abcdef"
    made, pool = crew(*names), Boards(*names)
    (found,) = run(made, pool)
    assert found.status is Status.LOST and pool.asked == ["a", "b", "c"]


def test_finals_go_to_the_next_board():
    made, pool = crew("a", "b"), Boards("a")
    assert made.compare(pool, [Job(""), Job("")], 2) == ("b", [[1e-3] * 2] * 2)
    assert pool.asked == ["a", "b"]


def test_work_is_shared():
    made, pool = crew("a", "b", "c"), Boards()
    pool.open = None  # nothing ends
    for _ in range(6):
        made.submit(pool, Job(""))
    assert sorted(pool.asked) == ["a", "a", "b", "b", "c", "c"]
