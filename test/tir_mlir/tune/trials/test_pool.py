"""The pool of workers: what it is asked, what it refuses, what a lost worker costs."""

import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from harness.failing_kernels import job, stores
from harness.told_runners import Abort, Board, Endless, Hungry

from tir_mlir.dialect.diagnostics import TuneError
from tir_mlir.tune.trials import Status, TrialLimits, TrialPool

SCRIPT = """
from tir_mlir.script.parser import parse
from tir_mlir.tune.trials import TrialPool, job_of

program = '''
@I.ir_module
class Module:
    @T.prim_func
    def main(A: T.Buffer((8,), "float32")):
        for i in range(8):
            with T.block("b"):
                vi = T.axis.spatial(8, i)
                A[vi] = 2.0
'''
print("main", flush=True)
with TrialPool(1) as pool:
    reference = pool.reference(job_of(parse(program)))
    print(pool.submit(job_of(parse(program), reference=reference)).result().status)
"""


def answer(pool, name="planted_fill", **options):
    return pool.submit(job(name, **options)).result(300)


def test_another_machine_builds_and_measures(pool):
    found = answer(pool, seed=7, runner=Board("pi"))
    assert (found.status, found.seconds, found.reason) == (Status.OK, (7.0,), "pi")
    assert "build.lower" in found.stages and "measure.board" in found.stages


@pytest.mark.nightly
def test_an_abort_of_the_compiler_costs_one_trial(pool):
    kept = [pool.submit(job("planted_fill", seed=n, runner=Abort("pi"))) for n in range(3)]
    found = [each.result(300) for each in kept]
    assert [each.status for each in found] == [Status.OK, Status.CRASHED, Status.OK]
    assert found[1].reason == "its worker was killed by SIGABRT: LLVM ERROR: out of ideas"


def test_a_build_ends_at_its_limit(pool):
    found = answer(pool, runner=Endless("pi"), limits=TrialLimits(build=0.2))
    assert (found.status, found.reason) == (Status.TIMED_OUT, "building it takes longer than 0.2 s of CPU time")


@pytest.mark.nightly
def test_a_build_that_eats_memory_ends_at_its_limit(pool):
    found = answer(pool, runner=Hungry("pi"), limits=TrialLimits(memory=256 << 20))
    assert (found.status, found.reason) == (Status.OUT_OF_MEMORY, "building it takes more than 0.25 GiB of memory")


def test_a_runner_of_a_function_is_refused(pool):
    @dataclass(frozen=True)
    class Local(Board):
        pass

    with pytest.raises(
        TuneError, match=r"cannot be sent to a worker: .*Local.*; fix: define the class of its runner in"
    ):
        answer(pool, runner=Local("pi"))
    assert answer(pool).status is Status.OK


def test_a_paused_worker_goes_on(pool):
    (worker,) = pool.workers
    os.kill(worker, signal.SIGSTOP)
    waiting = pool.submit(job("planted_fill"))
    time.sleep(0.1)
    assert not waiting.done()
    os.kill(worker, signal.SIGCONT)
    assert waiting.result(300).status is Status.OK


@pytest.mark.nightly
def test_compare_times_in_turns(pool):
    found = pool.compare([job("planted_fill"), job("planted_other")], rounds=5)
    assert [len(each) for each in found] == [5, 5] and min(map(min, found)) > 0


def test_compare_leaves_out_what_fails(pool):
    reference = pool.reference(job("planted_fill"))
    names = ("planted_wild", "planted_fill", "planted_other", "planted_nothing", "planted_fill")
    found = pool.compare([job(name, reference=reference) for name in names], rounds=3)
    assert [len(each) for each in found] == [0, 3, 0, 0, 3]


@pytest.mark.nightly
def test_compare_survives_a_compiler_that_aborts(pool):
    found = pool.compare([job("planted_fill", seed=n, runner=Abort("pi")) for n in range(3)], rounds=2)
    assert found == [[0.0, 0.0], [], [2.0, 2.0]]


def test_compare_of_two_machines_is_refused(pool):
    with pytest.raises(TuneError, match="jobs of one runner: times of different machines are not compared"):
        pool.compare([job("planted_fill", runner=Board(name)) for name in ("pi", "rock")])


@pytest.mark.parametrize("rounds", [0, 1.5, True])
def test_rounds_is_a_number(pool, rounds):
    with pytest.raises(TuneError, match="rounds is a number of measurements of each job, at least 1, not"):
        pool.compare([], rounds)


def test_compare_of_nothing_is_nothing(pool):
    assert pool.compare([]) == []


def test_a_reference_is_computed_once(pool):
    assert pool.reference(job("planted_fill")) is pool.reference(job("planted_fill"))


def test_another_kernel_is_another_reference(pool):
    known = job("planted_fill")
    other = replace(known, kernels=(replace(known.kernels[0], text=stores("planted_fill", 5.0)),))
    assert pool.reference(other) != pool.reference(known)
    assert pool.submit(replace(other, reference=pool.reference(known))).result(300).status is Status.WRONG


def test_a_program_that_crashes_has_no_reference(pool):
    with pytest.raises(TuneError, match=r"unscheduled program has no result .*: crashed: .* killed by SIGSEGV"):
        pool.reference(job("planted_wild"))


@pytest.mark.nightly
def test_a_reference_whose_worker_is_killed_is_computed_again():
    with TrialPool(1) as pool, ThreadPoolExecutor(1) as threads:
        waiting = threads.submit(pool.reference, job("planted_wait", limits=TrialLimits(run=0.3)))
        while not pool.workers or not children(pool.workers[0]):
            time.sleep(0.01)
        os.kill(pool.workers[0], signal.SIGKILL)
        with pytest.raises(TuneError, match="has no result to compare candidates with: timed out: it waits longer"):
            waiting.result(300)


def children(process):
    return Path(f"/proc/{process}/task/{process}/children").read_text().split()


def test_a_schedule_stands_in_for_a_program_that_takes_too_long(pool):
    slow = job("planted_hang", limits=TrialLimits(run=0.1))
    with pytest.raises(TuneError, match=r"timed out: .* fix: a larger limit, or a verified schedule as stand_in"):
        pool.reference(slow)
    found = pool.reference(slow, stand_in=job("planted_fill"))
    assert found.by == "the library's schedule"


@pytest.mark.parametrize("builders", [0, -1, True, "4", 1.5])
def test_builders_is_a_number(builders):
    with pytest.raises(TuneError, match="builders is a number of processes, at least 1, not"):
        TrialPool(builders)


def test_a_closed_pool_takes_no_jobs():
    with TrialPool(1) as pool:
        pass
    with pytest.raises(TuneError, match="the pool is closed; fix: submit inside its `with` block"):
        pool.submit(job("planted_fill"))


def test_close_ends_what_runs_and_cancels_what_waits():
    with TrialPool(1) as pool:
        running, waiting = (pool.submit(job("planted_hang", limits=TrialLimits(run=60.0))) for _ in range(2))
        while not (running.running() and pool.workers):
            time.sleep(0.01)
        (worker,) = pool.workers
    assert running.result(300).status is Status.CRASHED and waiting.cancelled()
    assert not os.path.exists(f"/proc/{worker}")


@pytest.mark.nightly
def test_workers_build_side_by_side_and_measure_in_turn():
    with TrialPool(2) as pool:
        while len(pool.workers) < 2:
            time.sleep(0.01)
        found = [pool.submit(job("planted_fill")) for _ in range(6)]
        assert [each.result(300).status for each in found] == [Status.OK] * 6


@pytest.mark.nightly
def test_a_script_without_a_guard_runs_once(tmp_path):
    """As in a notebook: a worker does not import the user's main module."""
    path = tmp_path / "script.py"
    path.write_text(SCRIPT)
    done = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, check=False, timeout=120)
    assert done.stdout.splitlines() == ["main", "ok"], done.stderr


@pytest.mark.nightly
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs PR_SET_PDEATHSIG")
def test_workers_end_with_their_coordinator(tmp_path):
    code = (
        "import os, signal, time\nfrom tir_mlir.tune.trials import TrialPool\npool = TrialPool(1)\n"
        "while not pool.workers: time.sleep(0.01)\n"
        "print(pool.workers[0], flush=True)\nos.kill(pool.workers[0], signal.SIGSTOP)\n"
        "os.kill(os.getpid(), signal.SIGKILL)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=120)
    worker = int(done.stdout)
    for _ in range(100):
        if not os.path.exists(f"/proc/{worker}"):
            return
        time.sleep(0.05)
    pytest.fail("the worker lives on")
