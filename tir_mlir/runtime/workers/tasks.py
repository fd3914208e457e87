"""What is run: a function by name, its bytes, and the name of its result in the cache."""

from __future__ import annotations

import functools
import importlib
import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Task:
    """A call of a pure function, bytes -> bytes.

    function: "package.module:name", importable in a worker. kind, key: folder and name of the result in the cache;
    equal keys of a kind have equal results, and a key of "" is not cached. label: for progress and timing, the name of
    the function in the graph.
    """

    function: str
    payload: bytes
    kind: str
    key: str
    label: str = ""


@dataclass(frozen=True)
class Done:
    """A task that is done: its label, the CPU seconds that it took, whether its result came from the cache."""

    label: str
    seconds: float
    cached: bool = False


@functools.cache
def imported(function: str) -> Callable[[bytes], bytes]:
    """The function of "package.module:name"."""
    module, _, name = function.partition(":")
    return getattr(importlib.import_module(module), name)


def computed(function: str, payload: bytes) -> tuple[bytes, float]:
    """What a task gives in this process, and the CPU seconds of this thread that it took. Errors: those of the task."""
    start = time.thread_time()
    result = imported(function)(payload)
    return result, time.thread_time() - start
