"""What goes through the pipes between a process and its workers.

A request: function, kind, key, whether the cache is used, whether it is computed though another build is at it, the
budget of proofs; then the payload. An answer: a status, CPU seconds; then the result. Before the first answer a worker
tells which sources it has loaded.
"""

from __future__ import annotations

import json
import os
import struct
from dataclasses import dataclass

COMPUTED, CACHED, BUSY, FAILED, CRASHED = range(5)
"""Statuses: it was computed; the cache had it; another build computes it; it raised an error, or its process was ended
from outside; it crashed the process, by the signal of the result."""

_LENGTHS = struct.Struct("<II")
_ANSWER = struct.Struct("<BdI")


@dataclass(frozen=True)
class TaskRequest:
    """A task for a worker. insist: compute it though another build is at it. operations: what `budget` gives; None
    outside."""

    function: str
    kind: str
    key: str
    cache: bool
    insist: bool
    operations: int | None
    payload: bytes

    def to_bytes(self) -> bytes:
        head = json.dumps([self.function, self.kind, self.key, self.cache, self.insist, self.operations]).encode()
        return _LENGTHS.pack(len(head), len(self.payload)) + head + self.payload


@dataclass(frozen=True)
class TaskResult:
    """What a worker did with a request. seconds: of CPU time."""

    status: int
    seconds: float = 0.0
    result: bytes = b""

    def to_bytes(self) -> bytes:
        return _ANSWER.pack(self.status, self.seconds, len(self.result)) + self.result


def read_request(pipe: int) -> TaskRequest:
    """The next request. Raises EOFError when the other end is closed."""
    head, payload = _LENGTHS.unpack(_read(pipe, _LENGTHS.size))
    return TaskRequest(*json.loads(_read(pipe, head)), payload=_read(pipe, payload))


def read_result(pipe: int) -> TaskResult:
    """The next answer. Raises EOFError when the other end is closed."""
    status, seconds, size = _ANSWER.unpack(_read(pipe, _ANSWER.size))
    return TaskResult(status, seconds, _read(pipe, size))


def write(pipe: int, data: bytes) -> None:
    """Write all of it. Raises OSError when the other end is closed."""
    view = memoryview(data)
    while view:
        view = view[os.write(pipe, view) :]


def _read(pipe: int, size: int) -> bytes:
    parts = []
    while size:
        part = os.read(pipe, size)
        if not part:
            raise EOFError
        parts.append(part)
        size -= len(part)
    return b"".join(parts)
