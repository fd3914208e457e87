"""The coordinator's side of a worker: starting it, its messages, its limits, its end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from multiprocessing import Pipe
from typing import Any

from tir_mlir.dialect.diagnostics import TuneError
from tir_mlir.runtime.tools.toolchain import status
from tir_mlir.tune.trials.forked import gigabytes
from tir_mlir.tune.trials.job import PATIENCE, Limits
from tir_mlir.tune.trials.outcome import Status
from tir_mlir.tune.trials.process_watch import Patience, cpu_seconds, resident_bytes

TICK = 0.05
"""Seconds between two looks at a worker."""
START = 60.0
"""Seconds in which a worker starts, on a busy machine."""
_LAST_WORDS = 600
_CODE = "import sys; sys.path[:] = {path!r}; from tir_mlir.tune.trials.worker import main; main({handle})"


class WorkerLost(Exception):
    """A worker that died or was ended, and the trial with it. last: its last message."""

    def __init__(self, status: Status, reason: str, last: tuple[Any, ...] = ()):
        super().__init__(reason)
        self.status, self.reason, self.last = status, reason, last


class WorkerProcess:
    """A running worker. A new Python process, not a fork: it has nothing of the user's `__main__`, threads or state."""

    def __init__(self) -> None:
        self.pipe, theirs = Pipe()
        self._words = tempfile.TemporaryFile()
        self._process = _start(theirs, self._words)
        self._stage = Patience(self.id, TICK), 0.0, 0
        self._last: tuple[Any, ...] = ()
        try:
            self.receive(Limits(build=START))
        except WorkerLost as lost:
            raise TuneError(f"a worker process does not start: {lost.reason}") from None
        self._begin()

    @property
    def id(self) -> int:
        """The id of the process."""
        return self._process.pid

    @property
    def resident(self) -> int:
        """Bytes of memory that it occupies."""
        return resident_bytes(self.id)

    def send(self, message: Any) -> None:
        """Send a message; the limits of the next stage count from here. Raises WorkerLost."""
        self._begin()
        try:
            self.pipe.send(message)
        except (BrokenPipeError, ConnectionResetError):
            raise self._dead() from None

    def receive(self, limits: Limits | None) -> tuple[Any, ...]:
        """Its next message. Raises WorkerLost if it dies, or passes the limits of a build."""
        while not self.pipe.poll(TICK):
            if limits is not None and (lost := self._over(limits)) is not None:
                self.end()
                raise lost
        try:
            self._last = self.pipe.recv()
        except (EOFError, ConnectionResetError):
            raise self._dead() from None
        if self._last[0] == "building":
            self._begin()
        return self._last

    def pause(self, paused: bool) -> None:
        """Stop it, or let it go on."""
        self._process.send_signal(signal.SIGSTOP if paused else signal.SIGCONT)

    def kill(self) -> None:
        """End it from another thread: whoever waits for its message gets WorkerLost."""
        self._process.kill()

    def end(self) -> None:
        """End it now, and close what belongs to it."""
        self._process.kill()
        self._process.wait()
        self.pipe.close()
        self._words.close()

    def _begin(self) -> None:
        self._stage = Patience(self.id, TICK), cpu_seconds(self.id), self.resident

    def _over(self, limits: Limits) -> WorkerLost | None:
        patience, cpu_start, size = self._stage
        waited = patience.look()
        if self.resident - size > limits.memory:
            reason = f"building it takes more than {gigabytes(limits.memory)} of memory"
            return WorkerLost(Status.OUT_OF_MEMORY, reason, self._last)
        if cpu_seconds(self.id) - cpu_start > limits.build:
            reason = f"building it takes longer than {limits.build:g} s of CPU time"
            return WorkerLost(Status.TIMED_OUT, reason, self._last)
        if waited > PATIENCE * limits.build:
            reason = f"building it waits longer than {PATIENCE * limits.build:g} s"
            return WorkerLost(Status.TIMED_OUT, reason, self._last)
        return None

    def _dead(self) -> WorkerLost:
        """How it died, with the last words of an abort."""
        self._process.wait()
        words = self._said()
        self.end()
        code = self._process.returncode
        reason = f"its worker was {status(code)}" if code < 0 else f"its worker ended with {status(code)}"
        if code == -signal.SIGKILL:
            reason += " (by the system, short of memory, or by another process)"
        return WorkerLost(Status.CRASHED, reason + (f": {words}" if words else ""), self._last)

    def _said(self) -> str:
        self._words.seek(0, os.SEEK_END)
        self._words.seek(max(0, self._words.tell() - _LAST_WORDS))
        return self._words.read().decode(errors="replace").strip()


def _start(theirs: Any, words: Any) -> subprocess.Popen[bytes]:
    path = [folder or os.getcwd() for folder in sys.path]
    code = _CODE.format(path=path, handle=theirs.fileno())
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "PYTHONFAULTHANDLER": ""}
    with theirs:
        return subprocess.Popen(
            [sys.executable, "-c", code],
            pass_fds=(theirs.fileno(),),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=words,
            env=environment,
        )
