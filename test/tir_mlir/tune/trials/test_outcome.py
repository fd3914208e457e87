"""What an outcome says."""

import pickle

import pytest

from tir_mlir.tune.trials import Outcome, Status


def test_the_median_is_that_of_the_runs():
    assert Outcome(Status.OK, (3.0, 1.0, 2.0)).median == 2.0


def test_without_runs_there_is_no_median():
    assert Outcome(Status.CRASHED).median is None


def test_a_run_of_twice_the_median_is_an_outlier():
    assert Outcome(Status.OK, (1.0, 1.1, 1.0, 2.5, 1.0)).outliers == (2.5,)


@pytest.mark.parametrize("status", Status)
def test_a_status_is_its_text(status):
    assert Status(str(status)) is status and f"{status}" == status.value


def test_an_outcome_reads_as_a_line():
    assert str(Outcome(Status.SLOW, (0.004,), reason="hopeless")) == "slow, 4.000 ms, hopeless"


def test_an_outcome_pickles():
    outcome = Outcome(Status.OK, (1.0,), {"build.lower": 0.1}, "", 5)
    assert pickle.loads(pickle.dumps(outcome)) == outcome
