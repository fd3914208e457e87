"""A worker takes part in searches that another process began, and in none that it does not understand."""

import uuid

import pytest
from harness.searches import Copy, Silent, three_by_four

from tir_mlir import tune
from tir_mlir.errors import TuneError, TuneWarning
from tir_mlir.tune.__main__ import main
from tir_mlir.tune.search.ledger import OWNER, open_storage
from tir_mlir.tune.search.search_worker import SearchWorker
from tir_mlir.tune.search.study_settings import SETTINGS

pytestmark = pytest.mark.slow


@pytest.fixture
def url(database):
    """A database of its own."""
    import sqlalchemy

    name = f"d{uuid.uuid4().hex[:8]}"
    with sqlalchemy.create_engine(database, isolation_level="AUTOCOMMIT").connect() as connection:
        connection.execute(sqlalchemy.text(f"create database {name}"))
    return database.replace("/postgres?", f"/{name}?")


def begun(url, trials=8, space=three_by_four, **options):
    """A search that is stopped before its second trial."""
    return tune.tune(Copy, trials=trials, space=space, storage=url, stop_after=1e-9, threads=1, builders=1, **options)


def study(url):
    import optuna

    storage = open_storage(url)
    return optuna.load_study(study_name=optuna.get_all_study_names(storage)[-1], storage=storage)


def put(url, **changes):
    found = study(url)
    found.set_user_attr(SETTINGS, {**found.user_attrs[SETTINGS], **changes})


@pytest.mark.nightly
def test_a_worker_goes_on_with_a_search(url):
    assert len(begun(url, 6, seed=3).trials) < 6
    ran = SearchWorker(url, {"three_by_four": three_by_four}, builders=1, idle=0).work(Silent())
    assert ran >= 5
    best = tune.tune(Copy, trials=6, space=three_by_four, storage=url, threads=1, builders=1, seed=3)
    assert len(best.trials) >= 6
    owners = {t.user_attrs[OWNER] for t in study(url).get_trials() if t.state.name == "COMPLETE"}
    assert len(owners) == 2 or len(best.trials) == 6


@pytest.mark.nightly
def test_the_command_line_of_a_worker(url, tmp_path, capsys):
    """With the library's space nothing but the URL is given."""
    begun(url, 2, space=None)
    assert main(["--worker", url, "--idle", "0", "--builders", "1"]) == 0
    printed = capsys.readouterr()
    assert "takes part in" in printed.out and "trials" in printed.out and not printed.err


@pytest.mark.nightly
def test_a_space_that_the_worker_does_not_have(url):
    begun(url)
    with pytest.warns(TuneWarning, match="its space is harness.searches.three_by_four; fix: .* --space FILE.py:three"):
        assert SearchWorker(url, builders=1, idle=0).work(Silent()) == 0


@pytest.mark.nightly
def test_another_space_of_the_same_name(url):
    def other(sch):
        sch.sample_categorical([0, 1], [0.5, 0.5], name="B.x")

    begun(url)
    with pytest.warns(TuneWarning, match="the space .* differs here; fix: .* the same file of the space"):
        assert SearchWorker(url, {"three_by_four": other}, builders=1, idle=0).work(Silent()) == 0


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"target": "neon"}, "it is for .*; this machine is aarch64"),
        ({"format": 99}, "its settings are of format 99, not 1; fix: update"),
        ({"program": "nonsense"}, "its program is not valid"),
        ({"sizes": 3}, "its settings are broken"),
        ({"trials": "many"}, "its settings are broken: ValueError"),
    ],
)
def test_settings_that_do_not_fit(url, changes, reason):
    begun(url)
    put(url, **changes)
    with pytest.warns(TuneWarning, match=reason):
        assert SearchWorker(url, {"three_by_four": three_by_four}, builders=1, idle=0).work(Silent()) == 0


@pytest.mark.nightly
def test_a_program_with_native_code_of_its_own_is_refused(url):
    begun(url)
    text = study(url).user_attrs[SETTINGS]["program"]
    put(url, program=text.replace("func.func @", "func.func private @system(memref<4xi8>)\n  func.func @", 1))
    with pytest.warns(TuneWarning, match="it calls 'system', which is not a registered kernel"):
        assert SearchWorker(url, {"three_by_four": three_by_four}, builders=1, idle=0).work(Silent()) == 0


def test_a_database_that_is_not_there():
    with pytest.raises(TuneError, match=r"the storage postgresql://u@127.0.0.1:9/x cannot be opened: .*fix: "):
        SearchWorker("postgresql://u:secret@127.0.0.1:9/x", idle=0).work(Silent())


def test_a_file_and_a_worker_exclude_each_other(capsys):
    with pytest.raises(SystemExit):
        main(["f.py", "--worker", "sqlite://"])
    assert "--worker takes its programs from the database, no FILE" in capsys.readouterr().err
