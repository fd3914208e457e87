"""Searches on a real SSH server, named as users name a board: a Host of the configuration of ssh."""

import os
import subprocess
import tempfile
from pathlib import Path

import pytest
from harness import sshd
from programs.products import product

from tir_mlir import tune
from tir_mlir.errors import TuneError, TuneWarning
from tir_mlir.tune.boards.ssh_measurer import SshConnection, shared_connection_options

pytestmark = [pytest.mark.slow, sshd.missing]


@pytest.fixture
def board(tmp_path, monkeypatch):
    """A board."""
    with sshd.board(tmp_path) as made:
        monkeypatch.setenv("PATH", f"{made.bin}{os.pathsep}{os.environ['PATH']}")
        yield made


def small():
    return product(17, 35, 29, "float32")


def searched(trials=4, program=None, **options):
    given = {"ssh": ["board"], "target": "sse2", "threads": 1, "builders": 1, "seed": 0} | options
    return tune.tune(program or product(64, 64, 64, "float32"), trials=trials, **given)


def test_commands_share_one_connection(board):
    connection = SshConnection("board")
    assert connection.run("cat; exit 3", b"\0\xff")[:2] == (3, b"\0\xff")
    for _ in range(3):
        assert connection.run("true")[0] == 0
    assert board.logins == 1


@pytest.mark.parametrize("name", ["a b%C", "long" * 20])
def test_folders_of_sockets(board, monkeypatch, name):
    """A space and a sign of ssh in the name are no matter; one that is too long for a socket is not taken."""
    with tempfile.TemporaryDirectory(dir="/tmp") as short:
        place = Path(short, name)
        place.mkdir()
        monkeypatch.setattr(tempfile, "tempdir", str(place))
        assert all(SshConnection("board").run("true")[0] == 0 for _ in range(2))
        assert board.logins == 1
        assert bool(list(place.glob("*/*"))) is (name == "a b%C")
        subprocess.run(["ssh", *shared_connection_options(), "-O", "exit", "board"], capture_output=True, check=False)


@pytest.mark.nightly
def test_a_search(board, tmp_path):
    """From the first candidate to the finals; the folder of arguments has spaces in its name."""
    best = searched(work_dir=tmp_path / "tuned")
    assert len(best.trials) == 4 and "ok" in best.statuses
    assert not {"build error", "crashed", "wrong"} & set(best.statuses)
    assert best.seconds <= best.library_seconds and best.verified
    (arguments,) = (board.cache / "tir_mlir").iterdir()
    assert {p.name for p in arguments.iterdir()} == {"all", "in0", "in1", "in2"}
    machines = {best.record.machine, *(r.machine for r in tune.Database(tmp_path / "tuned").records())}
    assert machines == {"board board"}


@pytest.mark.nightly
def test_a_board_that_is_gone_is_left_out_of_a_search(board):
    with pytest.warns(TuneWarning, match="board gone is left out after 3 failures in a row: the board gone"):
        best = searched(trials=8, ssh=["gone", "board"], program=small())
    assert "lost" not in best.statuses and best.record.machine == "board board"


@pytest.mark.nightly
def test_a_search_without_boards_goes_on_later(board, tmp_path):
    """The trials that were under way are run by the next call."""
    given = {"program": small(), "trials": 2, "work_dir": tmp_path / "tuned"}
    hidden, config = tmp_path / "hidden", tmp_path / "config"
    config.rename(hidden)
    with pytest.warns(TuneWarning, match="boards left: 0"), pytest.raises(TuneError, match="none of the boards"):
        searched(**given)
    hidden.rename(config)
    best = searched(**given)
    assert len(best.trials) == 2 and "lost" not in best.statuses
