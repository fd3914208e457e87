"""The workers of this process: how many, when they start, which are idle."""

from __future__ import annotations

import atexit
import math
import os
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path

from tir_mlir.dialect.diagnostics import variables
from tir_mlir.processes.child import Child
from tir_mlir.runtime.cache import fingerprint, store
from tir_mlir.runtime.tools.toolchain import cache_folder
from tir_mlir.target.host import cores

_COUNT = "TIR_WORKERS"
_MOST = 16
"""Processes unless TIR_WORKERS says more: each takes some 150 MB."""
PAYS = 1.0
"""CPU seconds of work below which a worker, whose start takes half as much, is not started."""


def count() -> int:
    """How many processes compute side by side, this one included. Raises BuildError."""
    given = variables.count(_COUNT, "a number of processes; 1 is this one alone")
    return given or max(1, min(cores(), _quota(), _MOST))


def _quota() -> int:
    """The CPUs that a container may use at a time."""
    try:
        quota, period = Path("/sys/fs/cgroup/cpu.max").read_text().split()
        return math.ceil(int(quota) / int(period))
    except (OSError, ValueError):  # no such file, or "max"
        return _MOST


class WorkerPool:
    """The workers of a process. Those that are taken are given back or dropped."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._idle: list[Worker] = []
        self._taken: list[Worker] = []
        self._settings: dict[str, str] = {}

    def start(self, work: float, functions: Sequence[str]) -> None:
        """Start workers for `work` CPU seconds, in so far as they pay. functions: those that they will be asked for."""
        with self._lock:
            self._renew()
            missing = min(count() - 1, int(work / PAYS)) - len(self._idle) - len(self._taken)
            if missing > 0 and can_start() and fingerprint.package_unchanged():  # else they would load other sources
                own_environment = environment()
                try:
                    self._idle += [Worker(functions, own_environment) for _ in range(missing)]
                except OSError:  # no process or no memory: the work is done here
                    return

    def take(self) -> list[Worker]:
        """All workers that are idle."""
        with self._lock:
            self._renew()
            workers, self._idle = self._idle, []
            self._taken += workers
        return workers

    def give_back(self, worker: Worker) -> None:
        """A worker without requests is idle again."""
        with self._lock:
            if worker in self._taken:
                self._taken.remove(worker)
                self._idle.append(worker)

    def drop(self, worker: Worker) -> None:
        """End a worker."""
        with self._lock:
            if worker in self._taken:
                self._taken.remove(worker)
        worker.close()

    def close(self) -> None:
        """End all workers."""
        with self._lock:
            idle, taken, self._idle, self._taken = self._idle, self._taken, [], []
        for worker in idle:
            worker.close()
        for worker in taken:  # closed by the thread that waits for its answer
            worker.kill()

    def forget(self) -> None:
        """In the child of a fork: the workers are its parent's."""
        workers = self._idle + self._taken
        self.__init__()
        for worker in workers:
            worker.forget()

    def _renew(self) -> None:
        """Leave out the dead, and all that were started with other settings."""
        settings = _settings()
        for worker in [worker for worker in self._idle if settings != self._settings or not worker.is_alive]:
            self._idle.remove(worker)
            worker.close()
        self._settings = settings


def can_start() -> bool:
    """Whether `sys.executable` is a Python that runs this package: not so in a program that embeds one."""
    name = os.path.basename(sys.executable or "")
    return name.startswith(("python", "pypy")) and not getattr(sys, "frozen", False)


def _settings() -> dict[str, str]:
    """What a worker is to see as this process does."""
    return {
        name: value
        for name, value in os.environ.items()
        if (name.startswith(("TIR_", "XDG_", "OMP_", "KMP_")) and name not in (_COUNT, "TIR_PROGRESS"))
        or name == "HOME"
    }


def environment() -> dict[str, str]:
    """The environment of a worker."""
    variables = {"TIR_CACHE_DIR": str(cache_folder()), _COUNT: "1", "TIR_PROGRESS": "0"}
    return {**os.environ, **variables}


pool = WorkerPool()
atexit.register(pool.close)
os.register_at_fork(after_in_child=pool.forget)


_CODE = "from tir_mlir.runtime.workers.worker import main; main(int(sys.argv[1]), sys.argv[2:])"


class Worker(Child):
    """A process that is sent `TaskRequest`s and answers each, in order, by a `TaskResult`."""

    def __init__(self, functions: Sequence[str], environment: Mapping[str, str]):
        """Start it. functions: are imported before the first request. Raises OSError."""
        super().__init__(_CODE, functions, environment, silent=True)
        self._greeted = False

    def greet(self) -> None:
        """Wait until it has started. Raises EOFError if it has loaded other sources than this process."""
        if not self._greeted:
            if self.receive() != store.digest(fingerprint.package_stamps()):
                raise EOFError
            self._greeted = True
