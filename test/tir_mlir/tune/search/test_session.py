"""The loop of a search, with a lab of given times."""

from __future__ import annotations

import pytest
from harness.searches import FakeLab, Silent, bowl, session, three_by_four

from tir_mlir.errors import TuneError
from tir_mlir.tune.search.session import Session
from tir_mlir.tune.spaces.deciders import Defaults, Fixed
from tir_mlir.tune.trials.outcome import Outcome, Status

DEFAULT = {"B.x": 1, "B.y": 10}
BEST = {"B.x": 2, "B.y": 20}


def run(search: Session) -> Session:
    search.resume()
    search.proposals.enqueue(Defaults(), "library")
    search.run()
    return search


def test_the_first_candidate_is_the_default():
    search = run(session(trials=1))
    assert [(r.origin, r.decisions, r.status) for r in search.results] == [("library", DEFAULT, "ok")]


def test_neighbors_come_before_the_sampler():
    search = session(trials=3)
    search.proposals.enqueue(Defaults(), "library")
    search.proposals.enqueue(Fixed({"B.x": 0, "B.y": 24}), "neighbor")
    search.run()
    assert [r.origin for r in search.results] == ["library", "neighbor", "TPE"]
    assert search.results[1].decisions == {"B.x": 0, "B.y": 20}  # the nearest candidate


def test_a_neighbor_that_is_the_default_is_not_run_again():
    search = session(trials=1)
    search.proposals.enqueue(Defaults(), "library")
    search.proposals.enqueue(Fixed(DEFAULT), "neighbor")
    search.budget = search.budget.__class__(2)
    search.run()
    assert [r.origin for r in search.results] == ["library", "TPE"]


@pytest.mark.parametrize("sampler", ["tpe", "random"])
def test_no_decisions_run_twice_and_a_small_space_ends(sampler):
    lab = FakeLab()
    search = run(session(trials=100, sampler=sampler, lab=lab))
    assert len(lab.asked) == len({tuple(d.values()) for d in lab.asked}) == 12
    assert search.proposals.exhausted and search.proposals.repeated > 0


def test_the_best_is_the_fastest():
    assert run(session(trials=12)).best.decisions == BEST


def test_the_sampler_learns_from_what_was_told():
    """Of 81 candidates, the last 16 of 48 are faster than random ones, and the best is found."""

    def wide(sch):
        for name in ("a", "b", "c", "d"):
            sch.sample_categorical([0, 1, 2], [0.4, 0.3, 0.3], name=name)

    lab = FakeLab(lambda d: 1e-3 * (1 + sum(abs(v - 2) for v in d.values())))
    search = run(session(wide, trials=48, lab=lab))
    times = [r.median for r in search.results]
    assert sum(times[-40:-24]) < 0.9 * 16 * 5e-3 and search.best.median == 1e-3


@pytest.mark.parametrize("status", [Status.CRASHED, Status.TIMED_OUT, Status.OUT_OF_MEMORY, Status.WRONG])
def test_a_candidate_that_fails_costs_its_trial_alone(status):
    lab = FakeLab(lambda d: Outcome(status, reason="why") if d["B.x"] == 1 else bowl(d))
    search = run(session(trials=12, lab=lab))
    failed = [r for r in search.results if not r.ok]
    assert len(failed) == 4 and {(r.status, r.reason) for r in failed} == {(status.value, "why")}
    assert search.best.decisions == BEST
    assert [t.state.name for t in search.ledger.trials()].count("PRUNED") == 4


def test_a_candidate_that_the_schedule_refuses_is_a_result_with_its_reason():
    def refusing(sch):
        if sch.get(sch.sample_categorical([0, 1], [0.6, 0.4], name="bad")):
            sch.reorder(*sch.get_loops("B"), *sch.get_loops("B"))

    lab = FakeLab(lambda d: 1.0)
    search = run(session(refusing, trials=2, lab=lab))
    assert lab.asked == [{"bad": 0}]
    assert search.results[1].status == "refused" and "reorder" in search.results[1].reason


def test_a_space_with_a_bug_is_told():
    def buggy(sch):
        sch.sample_categorical([3], [1.0], name="x")
        raise NameError("name 'tiel' is not defined")

    with pytest.raises(
        TuneError,
        match=r"the space raised NameError at .*test_session\.py:\d+: name 'tiel' .* the decisions {'x': 3}; fix: ",
    ):
        run(session(buggy))


def test_every_result_is_recorded_with_its_schedule():
    seen = []
    run(
        session(trials=3, record=lambda candidate, result: seen.append((candidate.schedule is not None, result.number)))
    )
    assert seen == [(True, 0), (True, 1), (True, 2)]


def test_domains_may_change_with_earlier_decisions():
    def changing(sch):
        x = sch.get(sch.sample_categorical([1, 2], [0.5, 0.5], name="x"))
        sch.sample_categorical(list(range(2 * x)), [1.0] * (2 * x), name="y")

    lab = FakeLab(lambda d: 1e-3 * (1 + d["x"] + d["y"]))
    search = run(session(changing, trials=50, lab=lab))
    assert len(search.results) == 6 and search.best.decisions == {"x": 1, "y": 0}


# --- stopped, and gone on --------------------------------------------------------------------------------------------


class Stopping(Silent):
    """Presses Ctrl-C after some trials."""

    def __init__(self, after: int):
        self.left = after

    def report_trial(self, trial, best):
        self.left -= 1
        if not self.left:
            raise KeyboardInterrupt


def test_ctrl_c_keeps_what_was_found(tmp_path):
    search = run(session(trials=12, work_dir=tmp_path, listener=Stopping(after=5)))
    assert search.interrupted and len(search.results) == 5
    assert search.best is not None


def test_a_search_that_was_stopped_goes_on(tmp_path):
    first, second = FakeLab(), FakeLab()
    run(session(trials=12, work_dir=tmp_path, lab=first, listener=Stopping(after=5)))
    search = run(session(trials=12, work_dir=tmp_path, lab=second))
    assert len(search.results) == 12 and search.best.decisions == BEST
    assert len(first.asked) == 5 and len(second.asked) == 7
    assert not [d for d in second.asked if d in first.asked]


def test_a_finished_search_runs_nothing_more(tmp_path):
    run(session(trials=6, work_dir=tmp_path))
    lab = FakeLab()
    assert len(run(session(trials=6, work_dir=tmp_path, lab=lab)).results) == 6
    assert lab.asked == []


class Dying(FakeLab):
    """A process that is killed while its third candidate runs."""

    def start(self, schedule, best):
        if len(self.asked) == 2:
            raise SystemExit
        return super().start(schedule, best)


def test_a_trial_left_running_is_taken_up_under_its_number(tmp_path):
    with pytest.raises(SystemExit):
        run(session(trials=8, work_dir=tmp_path, lab=Dying()))
    lab = FakeLab()
    search = run(session(trials=8, work_dir=tmp_path, lab=lab))
    left = search.ledger.trials()[2]
    assert left.state.name == "COMPLETE" and lab.asked[0] == left.user_attrs["decisions"]
    assert sorted(r.number for r in search.results) == list(range(8))


def test_a_storage_that_fails_ends_the_search_with_an_error_and_it_goes_on(tmp_path, monkeypatch):
    search = session(trials=12, work_dir=tmp_path)
    kept = search.ledger.finish

    def full(number, *rest):
        if number == 4:
            raise TuneError("the study cannot be kept: No space left")
        kept(number, *rest)

    monkeypatch.setattr(search.ledger, "finish", full)
    with pytest.raises(TuneError, match="No space left"):
        run(search)
    again = run(session(trials=12, work_dir=tmp_path))
    assert sorted(r.number for r in again.results) == list(range(12))


def test_progress_counts_what_earlier_runs_found(tmp_path):
    told = []

    class Told(Silent):
        def report_trial(self, trial, best):
            told.append(trial.number)

    run(session(trials=3, work_dir=tmp_path))
    run(session(trials=5, work_dir=tmp_path, listener=Told()))
    assert told == [0, 1, 2, 3, 4]


def test_two_searches_share_a_study(tmp_path):
    """What one of them tried, the other does not."""
    labs = FakeLab(), FakeLab()

    class Other(Silent):
        def report_trial(self, trial, best):
            if trial.number == 0:
                run(session(trials=4, work_dir=tmp_path, lab=labs[1]))

    search = run(session(three_by_four, trials=12, work_dir=tmp_path, lab=labs[0], listener=Other()))
    assert len(labs[1].asked) == 3 and len(labs[0].asked) == 9
    assert len(search.results) == 12 and len({tuple(r.decisions.values()) for r in search.results}) == 12
