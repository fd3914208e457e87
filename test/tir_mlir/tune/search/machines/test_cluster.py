"""A search on a cluster of dask: workers, the scheduler and the database are lost, trials are not."""

import os
import signal
import socket
import subprocess
import sys
import threading
from collections import Counter
from contextlib import contextmanager

import pytest
from harness.postgres import restart, running_server
from harness.searches import Copy
from harness.searching_processes import SLOWLY, paced

from tir_mlir import tune
from tir_mlir.errors import TuneError, TuneWarning
from tir_mlir.tune.search.ledger import DECISIONS, OUTCOME, OWNER, open_storage

distributed = pytest.importorskip("distributed")
pytestmark = [pytest.mark.nightly, pytest.mark.slow]
TRIALS = 150


def search(url, client, trials=TRIALS):
    """Search; check that each trial that was begun ended once, or was run again under a new number."""
    best = tune.tune(
        Copy, trials=trials, space=paced, sampler="random", storage=url, threads=1, builders=1, seed=3, cluster=client
    )
    kept = best.study.get_trials()
    counts = Counter(t.state.name for t in kept)
    assert set(counts) <= {"COMPLETE", "FAIL"}, counts
    assert trials <= counts["COMPLETE"] < trials + 10
    assert [t.number for t in kept] == list(range(len(kept)))
    ended = [str(t.user_attrs[DECISIONS]) for t in kept if OUTCOME in t.user_attrs]
    assert {str(t.user_attrs[DECISIONS]) for t in kept if t.state.name == "FAIL"} <= set(ended)
    return {t.user_attrs[OWNER] for t in kept}


class Watch:
    """What a database has of the search in it; `beside` does something to its processes meanwhile."""

    def __init__(self, url, slowly):
        self._storage, self._slowly, self._over = open_storage(url), slowly, threading.Event()

    def trials(self):
        import optuna

        studies = optuna.get_all_study_names(storage=self._storage)
        return optuna.load_study(study_name=studies[0], storage=self._storage).get_trials() if studies else []

    def processes(self, *states):
        """The ids of those whose trials are in one of these states."""
        owners = [t.user_attrs.get(OWNER) for t in self.trials() if t.state.name in states]
        return {int(owner.split(":")[1]) for owner in owners if owner}

    def until(self, condition):
        """Wait for what something leads to, as long as the search goes on."""
        while not (value := condition()):
            assert not self._over.wait(0.3), "the search ended before"
        return value

    @contextmanager
    def beside(self, action):
        """Do something beside what is in the context, which draws candidates slowly until that has ended."""
        errors = []

        def run():
            try:
                action()
            except Exception as error:
                errors.append(error)
            finally:
                self._slowly.unlink()

        self._slowly.touch()
        thread = threading.Thread(target=run)
        thread.start()
        try:
            yield
        finally:
            self._over.set()
            thread.join()
        assert not errors, errors


@pytest.fixture
def postgres():
    with running_server() as running:
        yield running


@pytest.fixture
def watch(postgres, tmp_path, monkeypatch):
    monkeypatch.setenv(SLOWLY, str(tmp_path / "slowly"))
    return Watch(postgres.get_uri(), tmp_path / "slowly")


def test_workers_are_killed_and_the_database_is_restarted(postgres, watch):
    with (
        distributed.LocalCluster(n_workers=8, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):

        def kill():
            """Kill a worker that runs a trial; one in its place takes part."""
            workers = set(client.run(os.getpid).values())
            os.kill(watch.until(lambda: next(iter(workers & watch.processes("RUNNING")), None)), signal.SIGKILL)
            known = workers | watch.processes("COMPLETE")
            watch.until(lambda: watch.processes("COMPLETE") - known)

        def disturb():
            watch.until(lambda: len(watch.processes("COMPLETE")) == 9)
            kill()
            restart(postgres)
            ended = len(watch.trials())
            watch.until(lambda: len(watch.trials()) > ended + 9)
            kill()

        with watch.beside(disturb):
            owners = search(postgres.get_uri(), client, 400)
    assert len(owners) >= 11  # the search itself, and workers, two of them again


def test_the_scheduler_is_restarted(postgres, watch, tmp_path):
    """Its workers end with it, and come again as a batch system starts them."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
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

            def disturb():
                watch.until(lambda: len(watch.processes("COMPLETE")) == 3)
                stop()
                watch.until(lambda: any("does not answer" in str(w.message) for w in told))
                known = watch.processes("COMPLETE")
                start()
                watch.until(lambda: watch.processes("COMPLETE") - known)

            with pytest.warns(TuneWarning, match="the cluster .* does not answer") as told, watch.beside(disturb):
                owners = search(postgres.get_uri(), client)
        assert len(owners) >= 4  # the search itself, and workers, one of them again
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
