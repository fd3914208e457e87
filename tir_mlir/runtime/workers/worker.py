"""The process of a worker: answers requests until its parent is gone or asks nothing for a while. It prints nothing."""

from __future__ import annotations

import contextlib
import os
import select
import signal

from tir_mlir.runtime.cache import fingerprint, store
from tir_mlir.runtime.workers import messages, tasks

IDLE = 30.0
"""Seconds without a request after which a worker ends."""


def main(functions: list[str]) -> None:
    """Answer the requests of stdin on stdout. functions: are imported before the first one."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent
    requests, answers = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nothing, stream)
    for function in functions:
        with contextlib.suppress(Exception):  # reported where it is called
            tasks.import_function(function)
    with contextlib.suppress(OSError, EOFError):
        loaded = store.digest(fingerprint.package_stamps()).encode()
        messages.write(answers, messages.TaskResult(messages.COMPUTED, 0.0, loaded).to_bytes())
        while select.select([requests], [], [], IDLE)[0]:
            messages.write(answers, _compute_results(messages.read_request(requests)).to_bytes())


def _compute_results(request: messages.TaskRequest) -> messages.TaskResult:
    try:
        return tasks.attempt(request)
    except Exception:  # the parent computes it, and raises it where it is seen
        return messages.TaskResult(messages.FAILED)
