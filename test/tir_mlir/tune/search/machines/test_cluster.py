"""A search on a cluster of dask: workers, the scheduler and the database are lost, trials are not."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from contextlib import contextmanager

import pytest
from harness.postgres import restart, running_server
from harness.searches import Copy
from harness.searching_processes import space

from tir_mlir import tune
from tir_mlir.errors import TuneError, TuneWarning
from tir_mlir.tune.search.ledger import DECISIONS, OUTCOME, OWNER

distributed = pytest.importorskip("distributed")
pytestmark = [pytest.mark.nightly, pytest.mark.slow]
TRIALS = 150


def search(url, client, trials=TRIALS):
    """Search; check that each trial that was begun ended once, or was run again under a new number."""
    best = tune.tune(
        Copy, trials=trials, space=space, sampler="random", storage=url, threads=1, builders=1, seed=3, cluster=client
    )
    kept = best.study.get_trials()
    counts = Counter(t.state.name for t in kept)
    assert set(counts) <= {"COMPLETE", "FAIL"}, counts
    assert trials <= counts["COMPLETE"] < trials + 10
    assert [t.number for t in kept] == list(range(len(kept)))
    ended = [str(t.user_attrs[DECISIONS]) for t in kept if OUTCOME in t.user_attrs]
    assert {str(t.user_attrs[DECISIONS]) for t in kept if t.state.name == "FAIL"} <= set(ended)
    return {t.user_attrs[OWNER] for t in kept}


@contextmanager
def meanwhile(*actions):
    """Run actions one after the other, some seconds apart, beside what is in the context; all of them end in it."""
    errors = []

    def run():
        for action in actions:
            time.sleep(20)
            try:
                action()
            except Exception as error:
                errors.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    yield
    assert thread.is_alive() is False and not errors, errors


@pytest.fixture
def postgres():
    with running_server() as running:
        yield running


def test_workers_are_killed_and_the_database_is_restarted(postgres):
    with (
        distributed.LocalCluster(n_workers=8, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):

        def kill():
            os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)

        with meanwhile(kill, lambda: restart(postgres), kill):
            owners = search(postgres.get_uri(), client, 400)
    assert len(owners) >= 9  # the search itself, and workers, one of them again


def test_the_scheduler_is_restarted(postgres, tmp_path):
    """Its workers end with it, and come again as a batch system starts them."""
    port = 18786
    running = []
    places = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}

    def begin(program, *arguments):
        command = [sys.executable, "-m", f"distributed.cli.{program}", *arguments, "--no-dashboard"]
        running.append(subprocess.Popen(command, cwd=tmp_path, env=places, stderr=subprocess.DEVNULL))

    def start():
        begin("dask_scheduler", "--port", str(port))
        for _ in range(2):
            begin("dask_worker", f"tcp://127.0.0.1:{port}", "--nthreads", "1", "--death-timeout", "60")

    def stop():
        for process in running:
            process.kill()
            process.wait()
        running.clear()

    start()
    try:
        with distributed.Client(f"tcp://127.0.0.1:{port}", timeout=60) as client:
            with pytest.warns(TuneWarning, match="the cluster .* does not answer"), meanwhile(stop, start):
                owners = search(postgres.get_uri(), client, 700)
        assert len(owners) >= 4
    finally:
        stop()


def test_a_cluster_that_is_no_client():
    with pytest.raises(TuneError, match=r"cluster is a distributed.Client, not 'tcp://a:1'; fix: Client\(address\)"):
        tune.tune(Copy, cluster="tcp://a:1", storage="postgresql://a/b")


def test_a_cluster_without_a_database(tmp_path):
    with distributed.LocalCluster(n_workers=0, dashboard_address=None, processes=False) as cluster:
        with (
            distributed.Client(cluster) as client,
            pytest.raises(TuneError, match="share a study in a database; fix: "),
        ):
            tune.tune(Copy, cluster=client, work_dir=tmp_path)
