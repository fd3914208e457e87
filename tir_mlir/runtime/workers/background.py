"""A task in a worker of its own while this process goes on, and then a step in a thread of this process."""

from __future__ import annotations

import atexit
import os
import threading
from collections.abc import Callable

from tir_mlir.dialect.ir.budget import given_operations
from tir_mlir.runtime.workers import pool
from tir_mlir.runtime.workers.messages import CRASHED, FAILED, TaskRequest, TaskResult
from tir_mlir.runtime.workers.process import Worker
from tir_mlir.runtime.workers.tasks import Task


class Background:
    """A task that is running behind the scenes.

    The step, `then`, gets the answer of the worker: FAILED where no worker can start or it raised an error, CRASHED
    where code ended it. It must not raise. At the exit of the process the worker is ended, and a step that has begun is
    waited for. In the child of a fork there is no such task: `is_lost`.
    """

    def __init__(self, task: Task | None, then: Callable[[TaskResult], None]):
        """Start it. task: None for the step alone."""
        self._task, self._then = task, then
        self._operations = given_operations()  # of this thread
        self._worker: Worker | None = None
        self._process, self._stopped, self._done = os.getpid(), False, threading.Event()
        self._thread = threading.Thread(target=self._work, name="tir_mlir background", daemon=True)
        _running.add(self)
        self._thread.start()

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until the step is done; whether it is."""
        return self._done.wait(timeout)

    @property
    def is_lost(self) -> bool:
        """Whether this process is the child of a fork, in which nothing runs on."""
        return os.getpid() != self._process

    def stop(self) -> None:
        """End the worker; return when the step, if it has begun, is done."""
        self._stopped = True
        if (worker := self._worker) is not None:
            worker.close()
        self._thread.join()

    def forget(self) -> None:
        """In the child of a fork: the worker is its parent's."""
        if self._worker is not None:
            self._worker.forget()

    def _work(self) -> None:
        answer = self._ask_worker()
        if not self._stopped:
            self._then(answer)
        _running.discard(self)
        self._done.set()

    def _ask_worker(self) -> TaskResult:
        """The answer of a new worker, which then ends."""
        task = self._task
        if task is None or not pool.can_start() or pool.count() == 1:
            return TaskResult(FAILED)
        request = TaskRequest(task.function, task.kind, task.key, True, True, self._operations, task.payload)
        try:
            worker = self._worker = Worker([task.function], pool.environment())
        except OSError:  # no process or no memory
            return TaskResult(FAILED)
        try:
            worker.greet()
            worker.send(request.to_bytes())
            return worker.receive()
        except (OSError, EOFError, ValueError):
            signal_name = "" if self._stopped else worker.crash()
            return TaskResult(CRASHED, 0.0, signal_name.encode()) if signal_name else TaskResult(FAILED)
        finally:
            self._worker = None
            worker.close()


_running: set[Background] = set()


def _stop_all() -> None:
    for background in list(_running):
        background.stop()


def _forget_all() -> None:
    for background in list(_running):
        background.forget()
    _running.clear()


atexit.register(_stop_all)
os.register_at_fork(after_in_child=_forget_all)
