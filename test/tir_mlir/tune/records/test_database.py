"""The directory of records: adding, finding, and what goes wrong with disks and files."""

import errno
import os
import subprocess
import sys
import time
import warnings
from dataclasses import replace

import pytest
from programs.matmul import matmul

from tir_mlir.dialect.diagnostics import TuneError, TuneWarning
from tir_mlir.target import ZEN4
from tir_mlir.tune.records import database as module
from tir_mlir.tune.records.database import Database
from tir_mlir.tune.records.record import subject

PROGRAM = matmul(8, 16, 32)


@pytest.fixture
def about():
    return subject(PROGRAM)


@pytest.fixture
def db(tmp_path):
    return Database(tmp_path / "tuned")


def made(about, seconds=0.001, **changes):
    found = {"space": "library", "decisions": {"C.rows": 4}, "trace": [[], []], "seconds": (seconds,)}
    return about.record(**(found | changes))


def files(db):
    return sorted(db.path.rglob("*.json"))


def test_the_fastest_is_the_best(db, about):
    for seconds in (0.003, 0.001, 0.002):
        db.add(made(about, seconds))
    assert db.best(PROGRAM).time == 0.001 and [r.time for r in db.records(PROGRAM)] == [0.001, 0.002, 0.003]


def test_without_records_there_is_no_best(db):
    assert db.best(PROGRAM) is None and db.records() == [] and len(db) == 0


def test_the_verified_comes_first(db, about):
    db.add(made(about, 0.001))
    db.add(made(about, 0.002, verified="scaled"))
    assert db.best(PROGRAM).verified == "scaled"


def test_this_machine_comes_first(db, about):
    db.add(made(replace(about, machine="another"), 0.001))
    db.add(made(about, 0.002))
    assert db.best(PROGRAM).time == 0.002


def test_another_machine_of_the_same_kind_will_do(db, about):
    db.add(made(replace(about, machine="another"), 0.001))
    assert db.best(PROGRAM).machine == "another"


@pytest.mark.parametrize("changes", [{"status": "crashed", "reason": "signal 11"}, {"status": "wrong"}, {"trace": []}])
def test_what_failed_is_kept_and_never_the_best(db, about, changes):
    db.add(made(about, **changes))
    assert db.best(PROGRAM) is None and [r.status for r in db.records(PROGRAM)] == [changes.get("status", "ok")]


def test_targets_are_told_apart(db, about):
    db.add(made(about))
    assert db.best(PROGRAM, ZEN4) is None and db.records(PROGRAM, ZEN4) == []
    db.add(made(subject(PROGRAM, ZEN4), 0.004))
    assert db.best(PROGRAM, ZEN4).time == db.records(PROGRAM, "zen4")[0].time == 0.004


def test_threads_are_told_apart(tmp_path, db):
    db.add(made(subject(PROGRAM, threads=1), 0.005))
    db.add(made(subject(PROGRAM, threads=64), 0.006))
    assert db.best(PROGRAM, threads=1).time == Database(db.path, threads=1).best(PROGRAM).time == 0.005
    assert db.best(PROGRAM, threads=64).time == 0.006 and db.best(PROGRAM, threads=3) is None


@pytest.mark.parametrize("name", ["tir_mlir", "llvm"])
def test_a_record_of_another_version_is_kept_and_not_built(db, about, name):
    db.add(made(replace(about, versions={**about.versions, name: "7.0.0"})))
    assert db.best(PROGRAM) is None and len(db.records(PROGRAM)) == 1


def test_the_best_of_a_thousand_programs_takes_a_few_ms(db, about):
    db.add(made(about))
    for number in range(1000):
        (db.path / "records" / f"{number % 7:032x}" / f"{number:032x}").mkdir(parents=True)
    one = files(db)[0]
    for number in range(1000):
        (one.parent / one.name.replace("00001000000", f"00002{number:06d}")).write_text("not read")
    took = []
    for _ in range(5):
        start = time.process_time()
        assert db.best(PROGRAM).time == 0.001
        took.append(time.process_time() - start)
    assert min(took) < 0.02


# --- other processes --------------------------------------------------------------------------------------------------

ADD = """
import sys; sys.path[:0] = {path!r}
from tir_mlir.tune.records.database import Database
from tir_mlir.tune.records.record import decode
one = decode(open({file!r}).read())
from dataclasses import replace
for number in range(25):
    Database({db!r}).add(replace(one, seconds=(1e-3 + 1e-6 * number,)))
"""


@pytest.mark.slow
@pytest.mark.nightly
def test_many_processes_add_at_once(tmp_path, db, about):
    db.add(made(about, 0.5))
    code = ADD.format(path=sys.path, file=str(files(db)[0]), db=str(db.path))
    started = [subprocess.Popen([sys.executable, "-c", code]) for _ in range(4)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # a reader never sees a part of a record
        while any(process.poll() is None for process in started):
            assert db.records(PROGRAM)
    assert [process.returncode for process in started] == [0] * 4 and len(db.records(PROGRAM)) == 101


KILLED = (
    ADD
    + """
while True:
    Database({db!r}).add(one)
"""
)


@pytest.mark.slow
def test_a_killed_writer_loses_one_record_at_most(db, about):
    db.add(made(about, 0.5))
    code = KILLED.format(path=sys.path, file=str(files(db)[0]), db=str(db.path))
    process = subprocess.Popen([sys.executable, "-c", code])
    while len(db) < 40:
        time.sleep(0.01)
    process.kill()
    process.wait()
    unfinished = [p for p in files(db)[0].parent.iterdir() if p.name.startswith("new-")]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(db.records(PROGRAM)) == len(files(db)) >= 40 and len(unfinished) <= 1


SHORT = """
import resource, sys; sys.path[:0] = {path!r}
from tir_mlir.tune.records.database import Database
from tir_mlir.tune.records.record import decode
one = decode(open({file!r}).read())
resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
Database({db!r}).add(one)
"""


@pytest.mark.slow
def test_a_record_that_was_written_in_part_is_removed(db, about):
    """The system cuts the file after 100 bytes."""
    db.add(made(about, 0.5))
    code = SHORT.format(path=sys.path, file=str(files(db)[0]), db=str(db.path))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "TuneError: a record was not kept in" in done.stderr and "File too large" in done.stderr
    assert [p.suffix for p in files(db)[0].parent.iterdir()] == [".json"] and len(db.records(PROGRAM)) == 1


# --- damage -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (lambda text: text[: len(text) // 2], "it is not JSON, perhaps cut off"),
        (lambda text: "", "it is not JSON, perhaps cut off"),
        (lambda text: text.replace('"format": 2', '"format": 3'), "it is of a newer version: its format is 3"),
        (lambda text: text.replace('"status": "ok"', '"status": "wrong"'), "its name does not fit its content"),
        (lambda text: text.replace("0.001", "0.002"), "its name does not fit its content"),
    ],
)
def test_a_damaged_record_is_named_and_passed_over(db, about, damage, reason):
    db.add(made(about, 0.001))
    path = files(db)[0]
    db.add(made(about, 0.002))
    path.write_text(damage(path.read_text()))
    with pytest.warns(TuneWarning, match=f"{path.name}: this record is passed over: {reason}"):
        assert db.best(PROGRAM).time == 0.002
    with pytest.warns(TuneWarning, match="passed over"):
        assert len(db.records(PROGRAM)) == 1


def test_a_file_that_is_no_text_is_passed_over(db, about):
    db.add(made(about))
    files(db)[0].write_bytes(b"\xff\xfe\x00")
    with pytest.warns(TuneWarning, match="passed over: .*codec can't decode"):
        assert db.best(PROGRAM) is None


def test_a_record_in_the_folder_of_another_program_is_passed_over(db, about):
    db.add(made(about))
    other = files(db)[0].parent.with_name("0" * 32)
    os.rename(files(db)[0].parent, other)
    with pytest.warns(TuneWarning, match="its name does not fit its content"):
        assert db.records() == []


def test_what_a_killed_process_left_is_named(db, about):
    db.add(made(about))
    left = files(db)[0].parent / "new-1"
    left.write_text("{")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        db.records(PROGRAM)  # perhaps being written just now
    os.utime(left, (0, 0))
    with pytest.warns(TuneWarning, match="new-1: a process ended while it wrote this record, which is lost"):
        assert len(db.records(PROGRAM)) == 1


# --- disks ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("number", "message"),
    [
        (errno.ENOSPC, "No space left on device; fix: free space on that disk, then go on with the search"),
        (errno.EIO, "Input/output error; fix: choose another directory"),
    ],
)
@pytest.mark.parametrize("place", ["fsync", "replace"])
def test_a_full_disk_is_told_and_leaves_no_part(db, about, monkeypatch, number, message, place):
    def fails(*_):
        raise OSError(number, os.strerror(number))

    db.add(made(about, 0.002))
    monkeypatch.setattr(module.os, place, fails)
    with pytest.raises(TuneError, match=f"a record was not kept in .*tuned: {message}"):
        db.add(made(about))
    monkeypatch.undo()
    assert [p.suffix for p in files(db)[0].parent.iterdir()] == [".json"] and db.best(PROGRAM).time == 0.002
    db.add(made(about))
    assert db.best(PROGRAM).time == 0.001


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")
def test_a_really_full_device_is_told(db, about, monkeypatch):
    monkeypatch.setattr("builtins.open", lambda *_, **__: os.fdopen(os.open("/dev/full", os.O_WRONLY), "w"))
    with pytest.raises(TuneError, match="No space left on device"):
        db.add(made(about))


def test_a_directory_that_may_not_be_written_is_told(db, about, monkeypatch):
    def denied(*_, **__):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr(module.Path, "mkdir", denied)
    with pytest.raises(TuneError, match="Permission denied; fix: choose a directory that this user may write"):
        db.add(made(about))


def test_a_directory_that_may_not_be_read_is_told(db, about, monkeypatch):
    def denied(*_, **__):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr(module.os, "listdir", denied)
    with pytest.raises(TuneError, match="cannot be read: Permission denied; fix: choose another database"):
        db.best(PROGRAM)


def test_a_file_is_no_database(tmp_path):
    (tmp_path / "x").write_text("")
    with pytest.raises(TuneError, match="x is a file; fix: a database is a directory"):
        Database(tmp_path / "x")


@pytest.mark.parametrize("path", [None, "", 3])
def test_a_database_is_a_path(path):
    with pytest.raises(TuneError, match="a database is a directory, not"):
        Database(path)
