"""A worker of trials as its coordinator sees it: starting it, its messages, its limits, its end."""

from __future__ import annotations

import os
from typing import Any

from tir_mlir.dialect.diagnostics import TuneError
from tir_mlir.processes.child import Child
from tir_mlir.processes.commands import death
from tir_mlir.processes.watch import Watch
from tir_mlir.tune.trials.job import TrialLimits
from tir_mlir.tune.trials.outcome import Status

TICK = 0.05
"""Seconds between two looks at a worker."""
START = 60.0
"""Seconds in which a worker starts, on a busy machine."""
_CODE = "from tir_mlir.tune.trials.worker import main; main(int(sys.argv[1]))"


class WorkerLost(Exception):
    """A worker that died or was ended, and the trial with it. last: its last message."""

    def __init__(self, status: Status, reason: str, last: tuple[Any, ...] = ()):
        super().__init__(reason)
        self.status, self.reason, self.last = status, reason, last


class WorkerProcess(Child):
    """A running worker. Its limits are those of a stage, which begins when it is sent a message. Raises TuneError if it
    does not start."""

    def __init__(self) -> None:
        super().__init__(_CODE, (), {**os.environ, "OPENBLAS_NUM_THREADS": "1", "PYTHONFAULTHANDLER": ""})
        self._last: tuple[Any, ...] = ()
        self._begin_stage()
        try:
            self.receive_within(TrialLimits(build=START))
        except WorkerLost as lost:
            raise TuneError(f"a worker process does not start: {lost.reason}") from None

    def send(self, message: Any) -> None:
        """Send a message. Raises WorkerLost."""
        self._begin_stage()
        try:
            super().send(message)
        except (BrokenPipeError, ConnectionResetError):
            raise self._dead() from None

    def receive_within(self, limits: TrialLimits) -> tuple[Any, ...]:
        """Its next message. Raises WorkerLost if it dies, or passes the limits of a build."""
        while not self.pipe.poll(TICK):
            if (over := self._watch.excess(limits.build, limits.memory)) is not None:
                self.close()
                status = Status.OUT_OF_MEMORY if over.of_memory else Status.TIMED_OUT
                raise WorkerLost(status, over.reason, self._last)
        try:
            self._last = self.receive()
        except (EOFError, ConnectionResetError):
            raise self._dead() from None
        if self._last[0] == "building":
            self._begin_stage()
        return self._last

    def _begin_stage(self) -> None:
        self._watch = Watch(self.id, TICK, ("building it takes", "building it takes", "building it waits"))

    def _dead(self) -> WorkerLost:
        """How it died, with the last words of an abort."""
        code, words = self.wait() or 0, self.last_words()
        self.close()
        return WorkerLost(Status.CRASHED, death("its worker", code) + (f": {words}" if words else ""), self._last)
