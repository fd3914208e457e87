"""Run code that may crash, hang or eat memory in a forked copy of this process, within limits."""

from __future__ import annotations

import contextlib
import faulthandler
import os
import resource
import select
import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing import Pipe
from typing import Any

from tir_mlir.dialect.diagnostics import TirError
from tir_mlir.runtime.tools.child_limits import die_with_parent
from tir_mlir.runtime.tools.toolchain import status
from tir_mlir.tune.trials.job import PATIENCE
from tir_mlir.tune.trials.outcome import Status
from tir_mlir.tune.trials.process_watch import Patience, cpu_seconds, resident_bytes

TICK = 0.02
"""Seconds between two looks at a running copy: it may pass a limit by what it takes in that time."""
_KIB = 1024


@dataclass
class End:
    """How a copy ended. value: what the work returned. reported: what it reported last. peak: bytes that it took."""

    status: Status
    value: Any = None
    reason: str = ""
    reported: Any = None
    peak: int | None = None


class Died(Exception):
    """A copy that did not return a value."""

    def __init__(self, end: End):
        super().__init__(end.reason)
        self.end = end


def run_forked(
    work: Callable[[Callable[[Any], None]], Any], seconds: float, memory: int, threads: int = 1, hurry: str = ""
) -> End:
    """Call `work(tell)` in a forked copy of this process; the value that it returns, or what went wrong.

    `tell(x)` reports progress. seconds: the limit of CPU time per thread; of waiting, five times that. memory: the
    limit of bytes that it takes. hurry: why the limit is short, if it is; then passing it is SLOW, not TIMED_OUT.
    """
    ours, theirs = Pipe(duplex=False)
    parent = os.getpid()
    child = os.fork()
    if child == 0:
        ours.close()
        _child(work, theirs, parent)
    theirs.close()
    with ours:
        watch = _Watch(child, ours, seconds, memory, threads, hurry)
        try:
            end = watch.wait_for_end()
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
            _, state, usage = os.wait4(child, 0)
    if end is None:
        end = End(Status.CRASHED, reason=_death(os.waitstatus_to_exitcode(state)))
    end.reported = watch.reported
    end.peak = max(0, usage.ru_maxrss * (1 if sys.platform == "darwin" else _KIB) - watch.start)
    return end


def _child(work: Callable[[Callable[[Any], None]], Any], pipe: Any, parent: int) -> None:
    """Run the work and end the process, without the clean-up of Python: it belongs to the original."""
    code = 1
    try:
        die_with_parent()
        if os.getppid() == parent:
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            faulthandler.disable()
            pipe.send(("value", work(lambda x: pipe.send(("reported", x)))))
            code = 0
    except MemoryError as error:
        pipe.send(("memory", str(error) or "an allocation failed"))
    except TirError as error:
        pipe.send(("refused", str(error)))
    except BaseException as error:
        pipe.send(("raised", f"{type(error).__name__}: {error}"))
    finally:
        os._exit(code)


class _Watch:
    """Reads what a copy sends, and ends it at its limits."""

    def __init__(self, child: int, pipe: Any, seconds: float, memory: int, threads: int, hurry: str):
        self.child, self.pipe, self.seconds, self.memory = child, pipe, seconds, memory
        self.threads, self.hurry = threads, hurry
        self.reported: Any = None
        self.start = resident_bytes(child)
        self.patience = Patience(child, TICK)

    def wait_for_end(self) -> End | None:
        """How it ended; None if it died."""
        while True:
            if not select.select([self.pipe], [], [], TICK)[0]:
                if (over := self._exceeded_limit()) is not None:
                    return over
                continue
            try:
                kind, value = self.pipe.recv()
            except (EOFError, OSError):
                return None
            if kind != "reported":
                return _end(kind, value)
            self.reported = value

    def _exceeded_limit(self) -> End | None:
        waited, growth = self.patience.look(), resident_bytes(self.child) - self.start
        if growth > self.memory:
            return End(Status.OUT_OF_MEMORY, reason=f"running it takes more than {gigabytes(self.memory)} of memory")
        late = Status.SLOW if self.hurry else Status.TIMED_OUT
        if cpu_seconds(self.child) > self.seconds * self.threads:
            return End(late, reason=self.hurry or f"it runs longer than {self.seconds:g} s of CPU time")
        if waited > PATIENCE * self.seconds:
            return End(late, reason=self.hurry or f"it waits longer than {PATIENCE * self.seconds:g} s")
        return None


def _end(kind: str, value: Any) -> End:
    if kind == "value":
        return End(Status.OK, value)
    kinds = {"memory": Status.OUT_OF_MEMORY, "refused": Status.BUILD_ERROR}
    return End(kinds.get(kind, Status.CRASHED), reason=value)


def _death(code: int) -> str:
    text = f"the run was {status(code)}" if code < 0 else f"the run ended the process with {status(code)}"
    return text + (" (by the system, short of memory, or by another process)" if code == -signal.SIGKILL else "")


def gigabytes(size: int) -> str:
    """A number of bytes as text."""
    return f"{size / (1 << 30):.3g} GiB"
