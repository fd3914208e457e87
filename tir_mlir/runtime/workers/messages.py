"""What goes through the pipe between a process and its workers: requests, and their results. Before the first result a
worker tells which sources it has loaded."""

from __future__ import annotations

from dataclasses import dataclass

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
