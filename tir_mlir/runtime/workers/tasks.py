"""What is run, a function by name with its bytes and the name of its result in the cache; messages of workers."""

from __future__ import annotations

import functools
import importlib
import time
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass

from tir_mlir.dialect.ir import budget
from tir_mlir.runtime.cache import store
from tir_mlir.runtime.cache.running_builds import claim_entry, wait_for_entry

# What goes through the pipe between a process and its workers: requests, and their results. Before the first result a
# worker tells which sources it has loaded.


COMPUTED, CACHED, BUSY, FAILED, CRASHED = range(5)
"""Statuses: it was computed; the cache had it; another build computes it; it raised an error, or its process was ended
from outside; it crashed the process, by the signal of the result."""


@dataclass(frozen=True)
class TaskRequest:
    """A task for a worker.

    cache: whether the cache is used.
    insist: compute it though another build is at it.
    operations: what `budget` gives; None outside.
    """

    function: str
    kind: str
    key: str
    cache: bool
    insist: bool
    operations: int | None
    payload: bytes


@dataclass(frozen=True)
class TaskResult:
    """What a worker did with a request. seconds: of CPU time."""

    status: int
    seconds: float = 0.0
    result: bytes = b""


@dataclass(frozen=True)
class Task:
    """A call of a pure function, bytes -> bytes.

    function: "package.module:name", importable in a worker.
    kind, key: folder and name of the result in the cache; equal keys of a kind have equal results, and a key of "" is
        not cached.
    label: for progress and timing, the name of the function in the graph.
    """

    function: str
    payload: bytes
    kind: str
    key: str
    label: str = ""


def attempt(request: TaskRequest) -> TaskResult:
    """Look a result up, else compute and store it, unless another process is at it. Errors: those of the function."""
    stored = request.cache and request.key != ""
    if not stored:
        return _compute_result(request)
    name = request.kind, request.key
    found = store.load(*name)
    if found is not None:
        return TaskResult(CACHED, 0.0, found)
    with claim_entry(*name) as is_free:
        if not is_free:
            if not request.insist:
                return TaskResult(BUSY)
            if (found := wait_for_entry(*name)) is not None:
                return TaskResult(CACHED, 0.0, found)
        answer = _compute_result(request)
        store.save(*name, answer.result)
    return answer


def _compute_result(request: TaskRequest) -> TaskResult:
    start = time.thread_time()
    with nullcontext() if request.operations is None else budget(request.operations):
        result = import_function(request.function)(request.payload)
    return TaskResult(COMPUTED, time.thread_time() - start, result)


@functools.cache
def import_function(function: str) -> Callable[[bytes], bytes]:
    """The function of "package.module:name"."""
    module, _, name = function.partition(":")
    return getattr(importlib.import_module(module), name)
