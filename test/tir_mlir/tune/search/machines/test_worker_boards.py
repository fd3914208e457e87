"""A worker with boards takes part in searches on boards, and only in these."""

import os
import uuid

import pytest
from harness import sshd
from harness.searches import Silent
from programs.products import product

from tir_mlir import tune
from tir_mlir.errors import TuneWarning
from tir_mlir.tune.__main__ import main
from tir_mlir.tune.search.ledger import OUTCOME, open_storage
from tir_mlir.tune.search.search_worker import SearchWorker

pytestmark = [pytest.mark.slow, sshd.missing]


@pytest.fixture
def url(database):
    """A database of its own."""
    import sqlalchemy

    name = f"d{uuid.uuid4().hex[:8]}"
    with sqlalchemy.create_engine(database, isolation_level="AUTOCOMMIT").connect() as connection:
        connection.execute(sqlalchemy.text(f"create database {name}"))
    return database.replace("/postgres?", f"/{name}?")


@pytest.fixture
def boards(tmp_path, monkeypatch):
    """Two boards, `board` and `other`."""
    with sshd.board(tmp_path, ("board", "other")) as made:
        monkeypatch.setenv("PATH", f"{made.bin}{os.pathsep}{os.environ['PATH']}")
        yield made


def measured_on(url):
    import optuna

    storage = open_storage(url)
    (name,) = optuna.get_all_study_names(storage)
    outcomes = [t.user_attrs.get(OUTCOME, {}) for t in optuna.load_study(study_name=name, storage=storage).get_trials()]
    return {o["machine"] for o in outcomes if o.get("status") == "ok"}


@pytest.mark.nightly
def test_a_worker_with_a_board_of_its_own(url, boards, capsys):
    given = {"trials": 4, "storage": url, "threads": 1, "builders": 1, "target": "sse2"}
    tune.tune(product(17, 35, 29, "float32"), ssh=["board"], stop_after=1e-9, **given)
    with pytest.warns(TuneWarning, match="it is measured on boards; fix: a worker with --ssh"):
        SearchWorker(url, builders=1, idle=0).work(Silent())
    assert main(["--worker", url, "--idle", "0", "--builders", "1", "--ssh", "other"]) == 0
    assert measured_on(url) == {"board other"}
    printed = capsys.readouterr()
    assert "takes part in" in printed.out and not printed.err
