"""A worker process as its parent sees it: started, asked, closed."""

from __future__ import annotations

import contextlib
import fcntl
import os
import signal
from collections.abc import Mapping, Sequence

from tir_mlir.runtime.cache import fingerprint, store
from tir_mlir.runtime.tools import processes
from tir_mlir.runtime.workers import messages
from tir_mlir.runtime.workers.messages import TaskResult

_CODE = "from tir_mlir.runtime.workers.worker import main; main(sys.argv[1:])"
_PIPE, _LEAST_PIPE = 1 << 20, 1 << 14
"""Bytes of a pipe: as wanted, and of systems that cannot change it."""


def _enlarge(pipe: int) -> int:
    """Make a pipe larger, and return its size."""
    setting = getattr(fcntl, "F_SETPIPE_SZ", None)  # Linux only
    if setting is not None:
        with contextlib.suppress(OSError):
            return fcntl.fcntl(pipe, setting, _PIPE)
    return _LEAST_PIPE


_CRASHES = (signal.SIGABRT, signal.SIGSEGV, signal.SIGBUS, signal.SIGILL, signal.SIGFPE)


class Worker:
    """A process that answers requests in order. Every method raises OSError or EOFError if the process is dead."""

    def __init__(self, functions: Sequence[str], environment: Mapping[str, str]):
        """Start it. functions: are imported before the first request. Raises OSError."""
        self._process = processes.start(
            processes.Python(_CODE, functions),
            stdin=processes.PIPE,
            stdout=processes.PIPE,
            stderr=processes.NOTHING,
            env=environment,
            bufsize=0,
        )
        assert self._process.stdin is not None and self._process.stdout is not None
        self._requests, self._answers = self._process.stdin.fileno(), self._process.stdout.fileno()
        self.room = _enlarge(self._requests)
        """Bytes of a request that fit into the pipe while the process is at an earlier one."""
        self._greeted, self._parent = False, os.getpid()

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    def greet(self) -> None:
        """Wait until it has started. Raises EOFError if it has loaded other sources than this process."""
        if not self._greeted:
            if messages.read_result(self._answers).result.decode() != store.digest(fingerprint.package_stamps()):
                raise EOFError
            self._greeted = True

    def send(self, request: bytes) -> None:
        """Ask it; it may still be at an earlier request."""
        messages.write(self._requests, request)

    def receive(self) -> TaskResult:
        """The answer to the earliest request without one."""
        return messages.read_result(self._answers)

    @property
    def is_alive(self) -> bool:
        """Whether the process runs."""
        return self._process.poll() is None

    def crash(self) -> str:
        """The signal by which code ended a process that is dead; "" if it ended itself, or was ended from outside."""
        with contextlib.suppress(processes.TimeoutExpired):
            code = -self._process.wait(1)
            return signal.Signals(code).name if code in _CRASHES else ""
        return ""

    def close(self) -> None:
        """End it, whatever it does."""
        with contextlib.suppress(OSError):
            self._process.kill()
        self.forget()
        with contextlib.suppress(processes.TimeoutExpired):
            self._process.wait(1)

    def forget(self) -> None:
        """Close the pipes of this process, as the child of a fork does with what belongs to its parent."""
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()
        if os.getpid() != self._parent:
            self._process.returncode = 0  # another process waits for it
