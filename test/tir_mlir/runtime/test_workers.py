"""Tasks run side by side: by worker processes, by this one, from the cache."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time

import pytest
from harness import ROOT

import tir_mlir
from tir_mlir.dialect.diagnostics import BuildError
from tir_mlir.runtime.cache import running_builds, store
from tir_mlir.runtime.cache.running_builds import claim_entry
from tir_mlir.runtime.workers import Task, pool, run, start

HERE = "harness.worker_tasks:"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("TIR_CACHE_DIR", str(tmp_path))
    return tmp_path


@pytest.fixture
def worker(folder, monkeypatch):
    """One worker, started; what is computed elsewhere is computed by it."""
    monkeypatch.setenv("TIR_WORKERS", "2")
    start(9, [HERE + "process"])
    (one,) = pool.pool.take()
    one.greet()
    pool.pool.give_back(one)
    yield one
    pool.pool.close()


def tasks(function: str, payloads: list[bytes], key: str = "") -> list[Task]:
    """A task for each payload; key: the beginning of their names in the cache."""
    return [Task(HERE + function, p, "code", key and f"{key}{n}", f"f{n}") for n, p in enumerate(payloads)]


def processes(results: list[bytes]) -> set[int]:
    return {int(result.split()[-1]) for result in results}


def test_results_are_in_order_and_told_once_each(folder):
    told = []
    results = run(tasks("process", [b"0 %d" % n for n in range(5)], "a"), progress=told.append)
    assert [result.split()[1] for result in results] == [b"%d" % n for n in range(5)]
    assert sorted(done.label for done in told) == [f"f{n}" for n in range(5)] and not any(done.cached for done in told)


def test_results_come_from_the_cache(folder):
    told = []
    first = run(tasks("process", [b"0 x"], "a"))
    assert run([Task("no.such:function", b"", "code", "a0")], progress=told.append) == first and told[0].cached


def test_equal_keys_are_computed_once(folder):
    told = []
    run([*tasks("process", [b"0"], "a"), Task("no.such:function", b"", "code", "a0", "other")], progress=told.append)
    assert [(done.label, done.cached) for done in told] == [("f0", False), ("other", True)]


@pytest.mark.parametrize("cache", [True, False])
def test_without_a_cache_nothing_is_kept(folder, monkeypatch, cache):
    if cache:
        monkeypatch.setenv("TIR_CACHE_SIZE", "0")
    run(tasks("process", [b"0"], "a"), cache=cache)
    assert not [path for path in folder.rglob("*") if path.is_file()]


def test_this_process_and_a_worker_share_the_tasks(worker):
    results = run(tasks("process", [b"10 %d" % n for n in range(12)], "a"))
    assert processes(results) == {os.getpid(), worker.id}
    assert all(store.load("code", f"a{n}") == result for n, result in enumerate(results))


def test_a_worker_sees_the_settings_of_now(worker, monkeypatch):
    monkeypatch.setenv("TIR_DUMP", "elsewhere")
    start(9, [])
    assert set(run(tasks("setting", [b"TIR_DUMP %d" % n for n in range(4)]))) == {b"elsewhere"}


def test_a_worker_has_the_budget_of_the_thread_that_asks(worker):
    with tir_mlir.budget(1234):
        results = run(tasks("operations", [b"%d" % n for n in range(8)]))
    assert {r.split()[0] for r in results} == {b"1234"} and worker.id in processes(results)
    assert {r.split()[0] for r in run(tasks("operations", [b"%d" % n for n in range(8)]))} == {b"0"}


@pytest.mark.parametrize("function", ["fails_elsewhere", "raises_elsewhere"])
def test_what_a_worker_fails_on_is_computed_here(worker, function):
    payloads = [b"%d %d" % (os.getpid(), n) for n in range(6)]
    assert run(tasks(function, payloads)) == payloads
    assert worker.is_alive == (function == "raises_elsewhere")


def test_a_crash_in_a_worker_is_an_error_here(worker):
    with pytest.raises(
        BuildError, match=r"f\d: MLIR or LLVM crashed \(SIGABRT\) in the process that computed .*:crash"
    ):
        run(tasks("crashes_elsewhere", [b"%d %d" % (os.getpid(), n) for n in range(6)]))


def test_an_error_is_raised_here_and_what_is_done_is_kept(folder):
    failing = tasks("fails_elsewhere", [b"%d x!" % os.getpid()])
    with pytest.raises(ValueError, match="x!"):
        run([*failing, *tasks("process", [b"1 the longest, so the first"], "a")])
    assert store.load("code", "a0") is not None


def test_a_worker_that_is_killed_between_is_replaced(worker):
    os.kill(worker.id, signal.SIGKILL)
    assert len(run(tasks("process", [b"5 %d" % n for n in range(6)]))) == 6


def test_a_worker_that_is_killed_meanwhile(worker):
    threading.Timer(0.05, os.kill, (worker.id, signal.SIGKILL)).start()
    assert len(run(tasks("process", [b"20 %d" % n for n in range(10)]))) == 10


def test_the_child_of_a_fork_leaves_the_workers_to_its_parent(worker):
    child = os.fork()
    if not child:
        mine = processes(run(tasks("process", [b"1 %d" % n for n in range(4)])))
        os._exit(0 if mine == {os.getpid()} else 1)
    results = run(tasks("process", [b"10 %d" % n for n in range(12)]))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0 and worker.id in processes(results)


def test_a_fork_in_the_middle_of_a_run(worker):
    """In a callback: the child goes on alone with what the workers compute for its parent."""
    children = []

    def fork(_):
        if not children:
            children.append(os.fork())

    results = run(tasks("process", [b"10 %d" % n for n in range(8)]), progress=fork)
    if not children[0]:
        os._exit(0 if len(results) == 8 else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(children[0], 0)[1]) == 0 and len(results) == 8


def test_what_another_build_computes_comes_last(folder, monkeypatch):
    monkeypatch.setattr(running_builds, "PATIENCE", 0.01)
    with claim_entry("code", "a0") as is_free:
        results, told = [], []
        assert is_free
        results = run(tasks("process", [b"0 the longest", b"0"], "a"), progress=told.append)
    assert [done.label for done in told] == ["f1", "f0"] and len(results) == 2


def test_what_another_build_finishes_in_a_moment_is_not_computed(folder):
    with claim_entry("code", "a0"):
        threading.Timer(0.05, store.save, ("code", "a0", b"theirs")).start()
        threading.Timer(0.1, (folder / "code" / "new-claim-a0").unlink).start()
        assert run([Task("no.such:function", b"", "code", "a0")]) == [b"theirs"]


def test_a_claim_of_a_dead_process_does_not_count(folder):
    (folder / "code").mkdir()
    (folder / "code" / "new-claim-a0").write_text("999999999")
    with claim_entry("code", "a0") as is_free:
        assert is_free
    assert not list((folder / "code").iterdir())


@pytest.mark.parametrize("failing", ["os.replace", "pathlib.Path.mkdir", "builtins.open"])
def test_a_full_disk_or_a_folder_that_cannot_be_written(folder, monkeypatch, failing):
    def full(*_args, **_options):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(failing, full)
        results = run(tasks("process", [b"0 %d" % n for n in range(3)], "a"))
    assert len(results) == 3


def test_little_work_starts_no_process(folder, monkeypatch):
    monkeypatch.setenv("TIR_WORKERS", "4")
    start(0.5, [HERE + "process"])
    assert not pool.pool.take()


SCRIPT = """
import os, sys
from tir_mlir.runtime.workers import Task, pool, run, start
start(9, ["harness.worker_tasks:process"])
(one,) = pool.pool.take()
one.greet()
pool.pool.give_back(one)
print(one.id, flush=True)
tasks = [Task("harness.worker_tasks:process", b"%d %d" % (int(sys.argv[1]), n), "code", f"a{n}") for n in range(8)]
print(len(run(tasks)), flush=True)
"""


def script(folder, *arguments: str) -> subprocess.Popen[str]:
    """A program without a guard of `__main__`, in a process group of its own, like one that a terminal starts."""
    if not (folder / "program.py").exists():  # another program may be reading it
        (folder / "program.py").write_text(SCRIPT)
    env = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'test'}", "TIR_WORKERS": "2"}
    command = [sys.executable, str(folder / "program.py"), *arguments]
    return subprocess.Popen(
        command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )


def ended(pid: int) -> bool:
    """Whether a process is gone or a zombie, after some time."""
    for _ in range(200):
        try:
            with open(f"/proc/{pid}/stat") as file:
                if file.read().rpartition(")")[2].split()[0] == "Z":
                    return True
        except OSError:
            return True
        time.sleep(0.05)
    return False


@pytest.mark.nightly
def test_a_program_ends_with_its_workers_and_prints_nothing_of_them(folder):
    program = script(folder, "5")
    out, err = program.communicate(timeout=60)
    assert program.returncode == 0 and err == "" and out.split()[1] == "8" and ended(int(out.split()[0]))


def test_ctrl_c_ends_the_build_and_keeps_what_is_done(folder):
    program = script(folder, "300")
    assert program.stdout is not None
    worker = int(program.stdout.readline())
    while not list(folder.glob("code/a*")):
        time.sleep(0.02)
    os.killpg(program.pid, signal.SIGINT)
    _, err = program.communicate(timeout=60)
    assert err.splitlines().count("KeyboardInterrupt") == 1 and ended(worker)  # the worker says nothing
    assert all(store.load("code", path.name) for path in folder.glob("code/a*"))


def test_a_worker_ends_with_a_parent_that_is_killed(folder):
    program = script(folder, "300")
    assert program.stdout is not None
    worker = int(program.stdout.readline())
    program.kill()
    program.communicate()
    assert ended(worker)


@pytest.mark.nightly
def test_eight_processes_at_once(folder):
    programs = [script(folder, "20") for _ in range(8)]
    outputs = [program.communicate(timeout=120) for program in programs]
    assert [(out.split()[1], err) for out, err in outputs] == [("8", "")] * 8
    assert not list(folder.glob("code/new-*"))
