"""What is run: a function by name, its bytes, and the name of its result in the cache."""

from __future__ import annotations

import functools
import importlib
import time
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass

from tir_mlir.dialect.ir import budget
from tir_mlir.runtime.cache import store
from tir_mlir.runtime.cache.claims import claim_entry, wait_for_entry
from tir_mlir.runtime.workers.messages import BUSY, CACHED, COMPUTED, TaskRequest, TaskResult


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
