"""The process of a worker: answers requests until its parent is gone or asks nothing for a while. It prints nothing."""

from __future__ import annotations

import contextlib
import signal
from multiprocessing.connection import Connection

from tir_mlir.runtime.cache import fingerprint, store
from tir_mlir.runtime.workers import tasks
from tir_mlir.runtime.workers.tasks import FAILED, TaskRequest, TaskResult

IDLE = 30.0
"""Seconds without a request after which a worker ends."""


def main(handle: int, functions: list[str]) -> None:
    """Answer the requests of the pipe at this descriptor. functions: are imported before the first one."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent
    for function in functions:
        with contextlib.suppress(Exception):  # reported where it is called
            tasks.import_function(function)
    with contextlib.suppress(OSError, EOFError), Connection(handle) as pipe:
        pipe.send(store.digest(fingerprint.package_stamps()))
        while pipe.poll(IDLE):
            pipe.send(_compute_result(pipe.recv()))


def _compute_result(request: TaskRequest) -> TaskResult:
    try:
        return tasks.attempt(request)
    except Exception:  # the parent computes it, and raises it where it is seen
        return TaskResult(FAILED)
