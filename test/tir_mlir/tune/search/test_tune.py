"""Searches as users run them, on this machine."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from tir_mlir import Schedule, build, schedules, te, tune
from tir_mlir.errors import TuneError
from tir_mlir.script import ir as I
from tir_mlir.script import tir as T
from tir_mlir.script.module import IRModule
from tir_mlir.target import chosen
from tir_mlir.tune.search.finals import ROUNDS
from tir_mlir.tune.search.tuner import library_space
from tir_mlir.tune.spaces.deciders import Defaults, Recording

pytestmark = pytest.mark.slow
N = 128


@I.ir_module
class Product:
    @T.prim_func
    def mm(A: T.Buffer((N, N), "float32"), B: T.Buffer((N, N), "float32"), C: T.Buffer((N, N), "float32")):
        for i, j, k in T.grid(N, N, N):
            with T.block("C"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    C[vi, vj] = T.float32(0)
                C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]


def product(sch):
    schedules.gemm(sch, "C", threads=1, free=True)


@pytest.fixture(scope="module")
def work_dir(tmp_path_factory):
    return tmp_path_factory.mktemp("tuned")


@pytest.fixture(scope="module")
def best(work_dir):
    return tune.tune(Product, trials=8, work_dir=work_dir, space=product, seed=1, threads=1, builders=1)


@pytest.mark.nightly
def test_all_trials_are_told(best):
    assert len(best.trials) == 8 and sum(t.ok for t in best.trials) >= 5
    assert best.trials[0].origin == "defaults"


def test_the_result_is_not_slower_than_the_librarys_choice(best):
    assert best.seconds <= best.library_seconds and best.gain >= 1
    rounds = sorted(len(seconds) for seconds in best.finals.values())
    confirmed = [] if best.is_library else [2 * ROUNDS] * 2  # of the winner and the library's choice
    assert len(rounds) >= 2 and rounds == [ROUNDS] * (len(rounds) - len(confirmed)) + confirmed


def test_the_result_is_verified_and_right(best):
    assert best.verified.startswith("checked at mm")
    a, b = (np.random.default_rng(n).random((N, N), dtype=np.float32) for n in (1, 2))
    c = np.zeros_like(a)
    build(best.schedule)["mm"](a, b, c)
    np.testing.assert_allclose(c, a @ b, rtol=1e-4)


def test_the_decisions_make_the_schedule(best):
    from tir_mlir.tune.search.candidates import draw_candidate
    from tir_mlir.tune.spaces.deciders import Fixed

    assert draw_candidate(Product, product, Fixed(best.decisions)).schedule.mod.equal(best.schedule.mod)


def test_it_prints_a_table(best):
    assert str(best).splitlines()[1].startswith("library's schedule") and "trials: 8" in str(best)


def test_every_trial_is_a_record(best, work_dir):
    records = tune.Database(work_dir, threads=1).records(Product)
    assert len(records) == 9  # and the winner, with the times of the finals
    assert tune.Database(work_dir, threads=1).best(Product).decisions == best.record.decisions


def test_the_study_is_optunas(best):
    assert len(best.study.trials) == 8 and best.study.best_value <= best.trials[0].median


@pytest.mark.nightly
def test_the_same_call_runs_nothing_more(best, work_dir):
    again = tune.tune(Product, trials=8, work_dir=work_dir, space=product, seed=1, threads=1)
    assert sorted(t.number for t in again.trials) == list(range(8))
    assert len(tune.Database(work_dir, threads=1).records(Product)) == 10  # the winner, again


def test_options_are_checked_before_anything_runs():
    for options, said in (
        ({"trials": 0}, "trials is a number >= 1, not 0"),
        ({"timeout": -1}, "timeout is a number of seconds, more than 0, not -1"),
        ({"space": 3}, "space is a function that takes a Schedule, not 3"),
        ({"sampler": "best"}, "unknown sampler 'best'"),
    ):
        with pytest.raises(TuneError, match=said):
            tune.tune(Product, **options)
    with pytest.raises(TuneError, match="tune takes an IRModule, a PrimFunc or an MLIR module, not int"):
        tune.tune(3)


@pytest.mark.nightly
def test_a_space_that_refuses_everything_says_why():
    best = tune.tune(Product, trials=2, space=lambda sch: sch.get_loops("nothing"), threads=1, builders=1)
    assert best.is_library and best.notes[0].startswith("no candidate of the space ran; trial 0: refused: ")
    assert "nothing" in best.notes[0]


@pytest.mark.nightly
def test_a_space_that_is_slower_than_the_library_is_told():
    best = tune.tune(Product, trials=1, space=lambda sch: None, threads=1)
    assert best.is_library and "no candidate is faster than the library's choice" in best.notes[0]


@pytest.mark.nightly
def test_errors_of_a_space_and_of_a_storage_are_told_before_anything_is_built(monkeypatch):
    monkeypatch.setattr("tir_mlir.tune.trials.pool.TrialPool.reference", None)
    with pytest.raises(TuneError, match="the space raised ZeroDivisionError"):
        tune.tune(Product, trials=2, space=lambda sch: 1 // 0, threads=1, builders=1)
    with pytest.raises(TuneError, match="the storage nothing://x cannot be opened"):
        tune.tune(Product, trials=2, storage="nothing://x", threads=1, builders=1)


SEARCH = """
import sys
sys.path.insert(0, {folder!r})
import test_tune
from tir_mlir import tune
best = tune.tune(
    test_tune.Product, trials=500, work_dir={work_dir!r}, space=test_tune.product, seed=1, threads=1, builders=1
)
print(best.interrupted, len(best.trials), best.gain >= 1)
"""


PATIENCE = 600
"""Seconds after which a search is taken to hang: the processes of a busy machine may stand still for minutes."""


def started(work_dir):
    code = SEARCH.format(folder=os.path.dirname(__file__), work_dir=str(work_dir))
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, start_new_session=True)
    deadline = time.monotonic() + PATIENCE
    while finished(work_dir) < 2 and time.monotonic() < deadline and process.poll() is None:
        time.sleep(0.1)
    assert finished(work_dir) >= 2
    return process


def finished(work_dir):
    journal = work_dir / "study.journal"
    lines = journal.read_text().splitlines() if journal.exists() else []
    return sum(json.loads(line).get("state") == 1 for line in lines if line.endswith("}"))


def members(session):
    """The processes of a session that run."""
    listed = subprocess.run(["ps", "-A", "-o", "sess=,stat=,args="], capture_output=True, text=True, check=True)
    lines = [line.split(None, 2) for line in listed.stdout.splitlines()]
    return [args for sess, state, args in lines if sess == str(session) and not state.startswith("Z")]


def test_ctrl_c_keeps_everything_and_returns_the_best(tmp_path):
    process = started(tmp_path)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does
    out, _ = process.communicate(timeout=PATIENCE)
    interrupted, count, good = out.split()
    assert (interrupted, good) == ("True", "True") and int(count) >= 2
    assert not members(process.pid)


@pytest.fixture(scope="module")
def killed(tmp_path_factory):
    """The folder of a search that was ended by kill -9, and its session."""
    work_dir = tmp_path_factory.mktemp("killed")
    process = started(work_dir)
    assert len(members(process.pid)) >= 2  # and a worker
    process.kill()
    process.communicate()
    return work_dir, process.pid


@pytest.mark.nightly
def test_a_killed_search_leaves_no_process(killed):
    deadline = time.monotonic() + PATIENCE
    while members(killed[1]) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not members(killed[1])


@pytest.mark.nightly
def test_a_killed_search_goes_on(killed):
    done = finished(killed[0])
    best = tune.tune(Product, trials=done + 3, work_dir=killed[0], space=product, seed=1, threads=1)
    states = [t.state.name for t in best.study.trials]
    assert len(best.trials) == done + 3 == len(states) and "RUNNING" not in states


def test_the_default_space_is_the_library_with_free_parameters():
    decider = Recording(Defaults())
    library_space(chosen("avx512"), 1)(Schedule(Product, decider=decider))
    assert {"C.tile_rows", "C.unroll", "C.packed"} <= set(decider.decisions)


# --- the default space -----------------------------------------------------------------------------------------------


def sized(n):
    a, b = te.placeholder((n, n), name="A"), te.placeholder((n, n), name="B")
    r = te.reduce_axis((0, n), name="r")
    return te.create_prim_func([a, b, te.compute((n, n), lambda i, j: te.sum(a[i, r] * b[r, j], axis=r), name="C")])


@pytest.mark.nightly
def test_what_was_best_at_another_size_is_tried_after_the_librarys_choice(tmp_path):
    first = tune.tune(sized(48), trials=4, work_dir=tmp_path, seed=1, threads=1)
    second = tune.tune(sized(33), trials=3, work_dir=tmp_path, seed=1, threads=1)
    assert [t.origin for t in first.trials] == ["library", "TPE", "TPE", "TPE"]
    assert [t.origin for t in second.trials] == ["library", "neighbor", "neighbor"]


@pytest.mark.nightly
def test_the_functions_of_a_module_are_tuned_and_put_together(tmp_path):
    x = te.placeholder((64, 64), name="X")
    twice = te.create_prim_func([x, te.compute((64, 64), lambda i, j: x[i, j] + x[i, j], name="Y")])
    module = IRModule({"mm": sized(48), "twice": twice})
    best = tune.tune(module, trials=8, work_dir=tmp_path, seed=1, threads=1)
    assert list(best.functions) == ["mm", "twice"] and best.gain >= 1 and best.verified
    assert all(name.startswith(("mm/C.", "twice/Y.")) for name in best.decisions)
    assert str(best).splitlines()[-2].startswith("all")
    lib, a = build(best.schedule), np.ones((64, 64), np.float32)
    out = np.zeros_like(a)
    lib["twice"](a, out)
    assert (out == 2).all()
