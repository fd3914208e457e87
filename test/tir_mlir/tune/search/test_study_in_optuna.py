"""The study in a work_dir, as optuna and its dashboard open it."""

import re
import time
from pathlib import Path

import optuna
import pytest
from harness.searches import FakeLab, bowl, session

from tir_mlir import tune
from tir_mlir.tune.search.ledger import JOURNAL, open_ledger
from tir_mlir.tune.search.server_storage import server_storage
from tir_mlir.tune.spaces.deciders import Defaults
from tir_mlir.tune.trials.outcome import Outcome, Status


def storage_in(work_dir):
    return optuna.storages.JournalStorage(optuna.storages.journal.JournalFileBackend(str(work_dir / JOURNAL)))


def time_of(decisions):
    return Outcome(Status.CRASHED, reason="signal 11") if decisions["B.x"] == 0 else bowl(decisions)


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    work_dir = tmp_path_factory.mktemp("tuned")
    search = session(work_dir=work_dir, trials=12, lab=FakeLab(time_of))
    search.proposals.enqueue(Defaults(), "library")
    search.run()
    return optuna.load_study(study_name=None, storage=storage_in(work_dir))


def test_it_loads_with_a_direction(study):
    assert study.direction.name == "MINIMIZE" and study.metric_names == ["seconds of a run"]


def test_parameters_are_values_by_name(study):
    assert study.trials[0].params == {"B.x": 1, "B.y": 10}
    assert study.best_params == {"B.x": 2, "B.y": 20} and study.best_value == 1e-3


def test_all_trials_have_the_same_distributions(study):
    assert {str(t.distributions["B.y"]) for t in study.trials} == {
        str(optuna.distributions.IntDistribution(0, 30))
    }  # what plots of several parameters need


def test_attributes_tell_where_a_trial_is_from_and_how_it_ended(study):
    assert study.trials[0].user_attrs["origin"] == "library"
    failed = next(t for t in study.trials if t.params["B.x"] == 0)
    assert failed.state.name == "PRUNED"
    outcome = failed.user_attrs["outcome"]
    assert (outcome["status"], outcome["reason"]) == ("crashed", "signal 11")


def test_optuna_computes_importances_of_it(study):
    evaluator = optuna.importance.PedAnovaImportanceEvaluator()
    assert set(optuna.importance.get_param_importances(study, evaluator=evaluator)) == {"B.x", "B.y"}


def test_a_study_says_what_it_is_about(tmp_path):
    for _ in range(2):
        open_ledger("s", tmp_path, None, about={"function": "mm", "program": "def mm(): ..."})
    found = optuna.load_study(study_name="s", storage=storage_in(tmp_path))
    assert found.user_attrs == {"function": "mm", "program": "def mm(): ..."}


def test_what_a_study_is_about_is_written_once(tmp_path):
    open_ledger("s", tmp_path, None, about={"function": "mm"})
    size = (tmp_path / JOURNAL).stat().st_size
    open_ledger("s", tmp_path, None, about={"function": "mm"})
    assert (tmp_path / JOURNAL).read_text()[size:].count("mm") == 0


@pytest.mark.nightly
def test_a_storage_of_the_user_keeps_its_callback(tmp_path):
    """A trial without a sign of life is this process's, and the callback of the storage is told, too."""
    told = []
    storage = optuna.storages.RDBStorage(
        f"sqlite:///{tmp_path / 'study.db'}",
        heartbeat_interval=60,
        grace_period=1,
        heartbeat_stale_trial_callback=lambda study, trial: told.append(trial.number),
    )
    first, second = (open_ledger("search", None, storage) for _ in range(2))
    first.token = "another machine:1:1:x"
    number, own = first.start([], {}, "random"), second.start([], {}, "random")
    time.sleep(2.1)
    assert [trial.number for trial in second.claim()] == told == [number]
    states = {trial.number: trial.state.name for trial in second.trials()}
    assert states == {number: "FAIL", own: "RUNNING"} and not first.claim()
    first.close()
    second.close()


def test_only_what_optuna_makes_public_is_used():
    """But where a trial is entered at once, which is left out where optuna lacks it."""
    private = re.compile(r"\b(study|trial|storages?|optuna(\.\w+)*)\._[a-z]")
    sources = Path(tune.__file__).parent.rglob("*.py")
    assert not [
        f"{path.name}: {line}"
        for path in sources
        for line in path.read_text().splitlines()
        if path.name != "server_storage.py" and private.search(line)
    ]


def test_a_database_has_optunas_own_storage_where_ours_cannot_extend_it(monkeypatch, tmp_path):
    own = optuna.storages.RDBStorage
    assert server_storage.__wrapped__() is not own
    monkeypatch.delattr(own, "_get_prepared_new_trial")
    assert server_storage.__wrapped__() is own
    monkeypatch.undo()
    monkeypatch.setattr("tir_mlir.tune.search.ledger.server_storage", lambda: own)
    ledger = open_ledger("search", None, f"sqlite:///{tmp_path / 'study.db'}")
    ledger.finish(ledger.start([], {}, "random"), 1e-3, {})
    ledger.close()
    assert [trial.state.name for trial in ledger.trials()] == ["COMPLETE"]
