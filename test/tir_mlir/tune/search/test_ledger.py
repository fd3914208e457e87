"""The ledger: what outlives a process, and what is told when it cannot be kept."""

import os
import socket

import optuna
import pytest
import sqlalchemy

from tir_mlir.errors import TuneError
from tir_mlir.tune.search.ledger import DECISIONS, JOURNAL, OWNER, choices_of, is_alive, open_ledger, without_password
from tir_mlir.tune.search.suggestions import SpaceChoice

CHOICES = [SpaceChoice("x", 2, 4, 16, 2, 64), SpaceChoice("y", 0, 1, 5, 5, 5)]
DECIDED = {"x": 16, "y": 5}


def started(ledger):
    return ledger.start(CHOICES, DECIDED, "library")


def test_a_finished_trial_is_there_when_the_ledger_is_opened_again(tmp_path):
    ledger = open_ledger("s", tmp_path, None)
    ledger.finish(started(ledger), 0.5, {"status": "ok"})
    (trial,) = open_ledger("s", tmp_path, None).trials()
    assert (trial.state.name, trial.value, trial.user_attrs["outcome"]) == ("COMPLETE", 0.5, {"status": "ok"})
    assert choices_of(trial) == CHOICES


def test_a_failed_trial_is_pruned(tmp_path):
    ledger = open_ledger("s", tmp_path, None)
    ledger.finish(started(ledger), None, {"status": "crashed"})
    assert ledger.trials()[0].state.name == "PRUNED"


def test_what_another_process_finished_stays(tmp_path):
    ledger = open_ledger("s", tmp_path, None)
    number = started(ledger)
    open_ledger("s", tmp_path, None).finish(number, 0.5, {})
    ledger.finish(number, 0.7, {})
    assert ledger.trials()[0].value == 0.5


def test_running_trials_of_a_closed_ledger_are_orphans(tmp_path):
    ledger = open_ledger("s", tmp_path, None)
    number = started(ledger)
    other = open_ledger("s", tmp_path, None)
    assert other.orphans() == []
    ledger.close()
    assert [t.number for t in other.orphans()] == [number]
    assert other.orphans()[0].user_attrs[DECISIONS] == DECIDED


def test_an_orphan_that_is_taken_up_is_none(tmp_path):
    first, second = open_ledger("s", tmp_path, None), open_ledger("s", tmp_path, None)
    number = started(first)
    first.close()
    second.take_up(number)
    assert first.orphans() == []


@pytest.mark.parametrize(
    ("token", "alive"),
    [
        (f"{socket.gethostname()}:{2**22 + 1}:1:x", False),
        (f"{socket.gethostname()}:{os.getppid()}:1:x", False),  # another process has its number now
        ("another machine:1:1:x", True),
        ("", True),
    ],
)
def test_who_is_alive(token, alive):
    assert is_alive(token) is alive


def test_a_trial_of_a_foreign_study_is_no_orphan(tmp_path):
    ledger = open_ledger("s", tmp_path, None)
    ledger.study.ask()
    assert ledger.orphans() == []


def test_a_line_that_its_writer_did_not_finish_is_cut(tmp_path):
    ledger = open_ledger("s", tmp_path, None)
    ledger.finish(started(ledger), 0.5, {})
    with open(tmp_path / JOURNAL, "ab") as file:
        file.write(b'{"op_code": 5, "worker')
    again = open_ledger("s", tmp_path, None)
    again.finish(started(again), 0.25, {})
    assert [t.value for t in open_ledger("s", tmp_path, None).trials()] == [0.5, 0.25]


def test_a_new_search_leaves_the_old_one(tmp_path):
    ledger = open_ledger("s", tmp_path, None)
    started(ledger)
    new = open_ledger("s", tmp_path, None, resume=False)
    assert (new.name, new.trials()) == ("s#2", [])
    assert open_ledger("s", tmp_path, None).name == "s#2"  # the last one goes on


def test_a_full_disk_is_told_and_the_search_can_go_on(tmp_path, monkeypatch):
    ledger = open_ledger("s", tmp_path, None)
    number = started(ledger)
    with monkeypatch.context() as full:
        full.setattr(os, "fsync", lambda _: (_ for _ in ()).throw(OSError(28, "No space left on device")))
        with pytest.raises(TuneError, match=r"cannot be kept: No space left on device; fix: make space .* run again"):
            ledger.finish(number, 0.5, {})
    again = open_ledger("s", tmp_path, None)
    again.finish(number, 0.5, {})
    assert [t.value for t in again.trials()] == [0.5]


@pytest.mark.nightly
def test_a_database_that_is_gone_is_told(tmp_path):
    path = tmp_path / "study.db"
    ledger = open_ledger("s", None, f"sqlite:///{path}")
    path.write_bytes(b"not a database at all" * 100)
    with pytest.raises(TuneError, match=r"cannot be reached: .*; fix: see to the storage, then run again"):
        started(ledger)


def test_a_trial_in_a_database_is_whole_and_takes_few_statements(tmp_path):
    ledger, asked = open_ledger("s", None, f"sqlite:///{tmp_path / 'trials.db'}"), []
    many = [SpaceChoice(f"x{n}", 2, 4, 16, 2, 64) for n in range(30)]
    sqlalchemy.event.listen(ledger._storage.engine, "before_cursor_execute", lambda *call: asked.append(call[2]))
    number = ledger.start(many, {c.name: c.value for c in many}, "library")
    ledger.finish(number, 0.5, {"status": "ok"})
    assert len(asked) <= 12
    (trial,) = ledger.trials()
    assert (trial.number, trial.state.name, trial.value, trial.user_attrs["outcome"]) == (
        number, "COMPLETE", 0.5, {"status": "ok"}
    )  # fmt: skip
    assert choices_of(trial) == many and trial.params == dict.fromkeys((c.name for c in many), 16)


def test_what_another_process_finished_in_a_database_stays(tmp_path):
    first, second = (open_ledger("s", None, f"sqlite:///{tmp_path / 'trials.db'}") for _ in range(2))
    number = started(first)
    second.finish(number, 0.5, {"status": "ok"})
    first.finish(number, 0.7, {"status": "late"})
    (trial,) = first.trials()
    assert (trial.value, trial.user_attrs["outcome"]) == (0.5, {"status": "ok"})


def test_a_url_of_no_database_is_told():
    with pytest.raises(TuneError, match=r"storage nosql://host cannot be opened: .*; fix: a URL of SQLAlchemy"):
        open_ledger("s", None, "nosql://host")


def test_passwords_are_not_shown():
    assert without_password("postgresql://me:secret@host/db") == "postgresql://me@host/db"


def test_a_file_in_place_of_the_folder_is_told(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(TuneError, match=r"the study cannot be kept in .*file/study.journal: .*; fix: another work_dir"):
        open_ledger("s", tmp_path / "file", None)


def test_optuna_opens_the_study_as_it_is(tmp_path):
    ledger = open_ledger("s", tmp_path, None)
    ledger.finish(started(ledger), 0.5, {"status": "ok"})
    backend = optuna.storages.journal.JournalFileBackend(str(tmp_path / JOURNAL))
    study = optuna.load_study(study_name="s", storage=optuna.storages.JournalStorage(backend))
    assert study.best_trial.params == DECIDED and OWNER in study.best_trial.user_attrs
