"""Candidates that are ranked by predicted times before they are measured."""

import pytest
from harness.searches import FakeLab, bowl, session

from tir_mlir.tune.search.screening import Screening
from tir_mlir.tune.search.session import TrialResult
from tir_mlir.tune.spaces.deciders import Defaults
from tir_mlir.tune.trials.outcome import Outcome, Status


def screened(trials, predict=bowl, **options):
    predictions, search = FakeLab(predict), session(trials=trials, **options)
    search.screening = Screening(search.proposals, lambda schedule: predictions.start(schedule, None), on=True)
    search.proposals.enqueue(Defaults(), "library")
    search.run()
    return search


def test_the_first_is_the_librarys_then_the_one_predicted_to_be_fastest():
    origins = [(r.origin, r.decisions) for r in screened(12).results[:2]]
    assert origins == [("library", {"B.x": 1, "B.y": 10}), ("TPE", {"B.x": 2, "B.y": 20})]


def test_the_order_is_that_of_the_predictions():
    times = [r.median for r in screened(12).results[1:]]
    assert times[:10] == sorted(times[:10])


def test_a_small_space_is_measured_to_its_end():
    search = screened(100)
    assert len({tuple(r.decisions.values()) for r in search.results}) == 12 == len(search.results)
    assert search.proposals.exhausted


def test_what_cannot_be_predicted_is_last():
    def predict(decisions):
        return Outcome(Status.BUILD_ERROR) if decisions["B.x"] == 2 else bowl(decisions)

    assert [r.decisions["B.x"] for r in screened(12, predict).results[-4:]] == [2] * 4


def test_what_the_space_refuses_is_told_and_not_measured():
    def refusing(sch):
        if sch.get(sch.sample_categorical([0, 1, 2], [0.6, 0.2, 0.2], name="bad")) == 1:
            sch.reorder(*sch.get_loops("B"), *sch.get_loops("B"))

    search = screened(9, lambda decisions: 1.0, space=refusing, lab=FakeLab(lambda decisions: 1.0))
    assert sorted(r.decisions["bad"] for r in search.results) == [0, 2]


@pytest.mark.parametrize(
    ("measuring", "ranked"), [(0.5, True), (0.2, False)], ids=["where measuring takes longer", "else not"]
)
def test_candidates_are_ranked_where_that_saves_time(measuring, ranked):
    search = session()
    screening = Screening(search.proposals, lambda schedule: None, on=None)
    stages = {"schedule": 0.1, "build.lower": 0.2, "measure.runs": measuring}
    screening.decide(TrialResult(0, "library", {}, "crashed", (), stages))
    assert screening.on is None
    screening.decide(TrialResult(0, "library", {}, "ok", (0.1,), stages))
    assert screening.on is ranked
