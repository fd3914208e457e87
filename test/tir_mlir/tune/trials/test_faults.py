"""A candidate that fails is an outcome with its reason, and costs its own trial alone."""

import os
import signal
import time

import pytest
from harness.failing_kernels import job
from programs.parsed import parse
from programs.short import each, main

from tir_mlir.tune.trials import Status, TrialLimits, TrialPool, job_of

BUFFER = main(
    "A:1 X:67108864; B:67108864",
    each("b:67108864", "B[vi] = X[vi] * X[vi]"),
    each("a i:67108864R", "A[0] = T.max(A[0], B[67108863 - vi])", init="A[0] = 0.0"),
)


def outcome(pool, name, **options):
    return pool.submit(job(name, **options)).result(300)


@pytest.fixture(scope="module")
def reference(pool):
    return pool.reference(job("planted_fill"))


def test_a_kernel_of_this_process_runs_in_the_worker(pool, reference):
    found = outcome(pool, "planted_fill", reference=reference)
    assert found.status is Status.OK and found.median > 0


def test_a_wrong_result_names_the_first_element(pool, reference):
    found = outcome(pool, "planted_other", reference=reference)
    assert found.status is Status.WRONG
    assert found.reason == "A[0] is 3.0, and 2.0 by the unscheduled program; 1 of 1 elements differ"


def test_a_wild_store_is_a_crash_by_signal_and_the_worker_lives(pool, reference):
    before = pool.workers
    found = outcome(pool, "planted_wild")
    assert (found.status, found.reason) == (Status.CRASHED, "the run was killed by SIGSEGV")
    assert outcome(pool, "planted_fill", reference=reference).status is Status.OK
    assert pool.workers == before


def test_a_hang_ends_at_its_limit(pool):
    start = time.process_time()
    found = outcome(pool, "planted_hang", limits=TrialLimits(run=0.3))
    assert (found.status, found.reason) == (Status.TIMED_OUT, "it runs longer than 0.3 s of CPU time")
    assert time.process_time() - start < 1  # the coordinator waits, it does not spin


def test_a_kernel_that_waits_ends_at_five_times_its_limit(pool):
    found = outcome(pool, "planted_wait", limits=TrialLimits(run=0.1))
    assert (found.status, found.reason) == (Status.TIMED_OUT, "it waits longer than 0.5 s")


def test_a_hang_is_slow_if_the_best_is_known(pool):
    found = outcome(pool, "planted_hang", best=0.001)
    assert found.status is Status.SLOW and found.reason == "ended after 1 s, and the best takes 0.001 s"


def test_an_eater_of_memory_ends_at_its_limit(pool):
    found = outcome(pool, "planted_eater", limits=TrialLimits(memory=64 << 20))
    assert found.status is Status.OUT_OF_MEMORY
    assert found.reason == "running it takes more than 0.0625 GiB of memory"
    assert found.peak_memory > 64 << 20


def test_buffers_beyond_the_limit_are_not_allocated(pool):
    found = pool.submit(job_of(parse(BUFFER), limits=TrialLimits(memory=128 << 20))).result(300)
    assert found.status is Status.OUT_OF_MEMORY
    assert found.reason == "it allocates 0.25 GiB for its own buffers; the limit is 0.125 GiB"


def test_a_program_that_does_not_build_says_why(pool):
    found = outcome(pool, "planted_nothing")
    assert found.status is Status.BUILD_ERROR
    assert "no code for the external function 'planted_nothing'" in found.reason


def test_a_worker_that_is_killed_costs_one_trial():
    with TrialPool(1) as pool:
        lost = pool.submit(job("planted_hang", limits=TrialLimits(run=30.0)))
        kept = [pool.submit(job("planted_fill")) for _ in range(2)]
        while not (lost.running() and pool.workers):
            time.sleep(0.01)
        (worker,) = pool.workers
        os.kill(worker, signal.SIGKILL)
        assert lost.result(300).status is Status.CRASHED
        assert lost.result().reason.startswith("its worker was killed by SIGKILL (by the system, short of memory, or")
        assert [each.result(300).status for each in kept] == [Status.OK] * 2
        assert pool.workers != [worker]
