"""The lab of worker processes: which programs are built."""

from concurrent.futures import Future

import pytest
from harness.searches import Copy

from tir_mlir import Schedule
from tir_mlir.errors import TuneError
from tir_mlir.tune.search.lab import SAME, PoolLab
from tir_mlir.tune.trials.outcome import Outcome, Status


class FakePool:
    """Keeps the jobs and the futures that it gave."""

    def __init__(self):
        self.jobs, self.futures = [], []

    def submit(self, job):
        self.jobs.append(job)
        self.futures.append(Future())
        return self.futures[-1]


def split(factor):
    sch = Schedule(Copy)
    sch.split(sch.get_loops("B")[0], [None, factor])
    return sch


@pytest.fixture
def lab():
    return PoolLab(FakePool(), {})


def test_a_program_that_is_under_way_is_not_built_again(lab):
    first, second = lab.start(split(4), None), lab.start(split(4), 1.0)
    assert len(lab.pool.jobs) == 1 and not second.done()
    lab.pool.futures[0].set_result(Outcome(Status.OK, (1e-3,), {"build.lower": 0.2}))
    assert first.result().stages == {"build.lower": 0.2}
    assert second.result() == Outcome(Status.OK, (1e-3,), {}, SAME)


def test_a_program_that_failed_fails_again_with_its_reason(lab):
    lab.start(split(4), None)
    lab.pool.futures[0].set_result(Outcome(Status.TIMED_OUT, reason="10 s"))
    assert lab.start(split(4), None).result() == Outcome(Status.TIMED_OUT, reason=f"{SAME}: 10 s")
    assert len(lab.pool.jobs) == 1


def test_another_program_is_built(lab):
    lab.start(split(4), None)
    lab.start(split(8), None)
    assert len(lab.pool.jobs) == 2


def test_a_program_whose_results_were_not_compared_is_run_again(lab):
    lab.start(split(4), None)
    lab.reference = "a reference"
    lab.start(split(4), None)
    assert [job.reference for job in lab.pool.jobs] == [None, "a reference"]


def test_a_fault_of_the_pool_is_that_of_both(lab):
    lab.start(split(4), None)
    second = lab.start(split(4), None)
    lab.pool.futures[0].set_exception(TuneError("no worker starts"))
    with pytest.raises(TuneError, match="no worker starts"):
        second.result()


def test_a_cancelled_job_is_cancelled_for_both(lab):
    lab.start(split(4), None)
    second = lab.start(split(4), None)
    lab.pool.futures[0].cancel()
    lab.pool.futures[0].set_running_or_notify_cancel()
    assert second.cancelled()
