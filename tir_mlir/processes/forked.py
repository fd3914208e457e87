"""Forked copies of this process, which have what it imported: work that may crash, hang or eat memory, and work side by
side. Nothing else in this package forks."""

from __future__ import annotations

import contextlib
import enum
import faulthandler
import os
import resource
import select
import signal
import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from tir_mlir.dialect.diagnostics import TirError
from tir_mlir.processes.commands import death
from tir_mlir.processes.limits import die_with_parent
from tir_mlir.processes.watch import Excess, Watch

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

TICK = 0.02
"""Seconds between two looks at a running copy: it may pass a limit by what it takes in that time."""
_KIB = 1024


def run_in_copy(work: Callable[[], int]) -> int:
    """Run `work` in a copy with the streams of this process; its exit code, negative for the signal that ended it.

    The copy ends as a program does, by SystemExit. Ctrl-C goes to both: this process waits for the copy.
    """
    child = os.fork()
    if child == 0:
        raise SystemExit(work())
    try:
        _, state = os.waitpid(child, 0)
    except KeyboardInterrupt:
        _, state = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(state)


class Copy:
    """A copy that calls `work(pipe)`, which answers through the pipe, and then ends without the clean-up of Python: it
    belongs to the original. A context manager: the copy is gone at the end."""

    def __init__(self, work: Callable[[Connection], None]):
        from multiprocessing.connection import Connection  # takes 10 ms

        reading, writing = os.pipe()
        parent = os.getpid()
        self.id = os.fork()
        if self.id == 0:
            try:
                os.close(reading)
                die_with_parent(parent)
                work(Connection(writing, readable=False))
                os._exit(0)
            finally:
                os._exit(1)
        os.close(writing)
        self.pipe = Connection(reading, writable=False)
        self.code = self.peak = 0
        """The exit status, and the most bytes that it occupied, once it has ended."""

    def __enter__(self) -> Copy:
        return self

    def __exit__(self, *error: object) -> None:
        self.pipe.close()
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.id, signal.SIGKILL)
        _, state, usage = os.wait4(self.id, 0)
        self.code = os.waitstatus_to_exitcode(state)
        self.peak = usage.ru_maxrss * (1 if sys.platform == "darwin" else _KIB)


# --- one copy, within limits ------------------------------------------------------------------------------------------


class Ending(enum.Enum):
    """How the work of a copy ended: with its value, a TirError, another error of Python's, too much memory, too late,
    or in any other way."""

    VALUE = enum.auto()
    REFUSED = enum.auto()
    RAISED = enum.auto()
    OUT_OF_MEMORY = enum.auto()
    LATE = enum.auto()
    CRASHED = enum.auto()


@dataclass
class End:
    """The end of a copy.

    value: what the work returned.
    reported: what it reported last.
    peak: bytes that it took.
    """

    how: Ending
    value: Any = None
    reason: str = ""
    reported: Any = None
    peak: int | None = None


def run_forked(work: Callable[[Callable[[Any], None]], Any], seconds: float, memory: int, threads: int = 1) -> End:
    """Call `work(tell)` in a copy; the value that it returns, or what went wrong.

    `tell(x)` reports progress. seconds: the limit of CPU time per thread; of waiting, five times that. memory: the
    limit of bytes that it takes.
    """
    reports: list[Any] = []
    with Copy(partial(_call, work)) as copy:
        watch = Watch(copy.id, TICK, ("running it takes", "it runs", "it waits"))
        end = _wait_for_end(copy.pipe, reports, lambda: watch.excess(seconds, memory, threads))
    if end is None:
        end = End(Ending.CRASHED, reason=death("the run", copy.code, "ended the process"))
    end.reported = reports[-1] if reports else None
    end.peak = max(0, copy.peak - watch.resident)
    return end


def _wait_for_end(pipe: Connection, reports: list[Any], excess: Callable[[], Excess | None]) -> End | None:
    """How a copy ended; None if it died."""
    while True:
        if not select.select([pipe], [], [], TICK)[0]:
            if (over := excess()) is not None:
                return End(Ending.OUT_OF_MEMORY if over.of_memory else Ending.LATE, reason=over.reason)
            continue
        try:
            how, value = pipe.recv()
        except (EOFError, OSError):
            return None
        if how is Ending.VALUE:
            return End(how, value)
        if how is not None:
            return End(how, reason=value)
        reports[:] = [value]


def _call(work: Callable[[Callable[[Any], None]], Any], pipe: Connection) -> None:
    """In the copy: send what the work tells, with None, and then how it ended."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    faulthandler.disable()
    try:
        pipe.send((Ending.VALUE, work(lambda x: pipe.send((None, x)))))
    except MemoryError as error:
        pipe.send((Ending.OUT_OF_MEMORY, str(error) or "an allocation failed"))
    except TirError as error:
        pipe.send((Ending.REFUSED, str(error)))
    except BaseException as error:
        pipe.send((Ending.RAISED, f"{type(error).__name__}: {error}"))


# --- texts side by side -----------------------------------------------------------------------------------------------


Work = Callable[[], str]


def side_by_side(works: Sequence[Work], count: int) -> list[str]:
    """The texts, in order, by `count` processes: this one makes the first, and each of the others one more at a time.
    Raises the first TirError. What a copy leaves out, because it ended early, is made here."""
    count = max(1, min(count, len(works)))
    with ExitStack() as stack:
        copies = [stack.enter_context(Copy(partial(_send_texts, works[start::count]))) for start in range(1, count)]
        shares = [[work() for work in works[::count]]]
        shares += [_texts(copy, works[start::count]) for start, copy in enumerate(copies, 1)]
    return [shares[number % count][number // count] for number in range(len(works))]


def _texts(copy: Copy, works: Sequence[Work]) -> list[str]:
    found: list[str] = []
    for work in works:
        try:
            text = copy.pipe.recv()
        except EOFError:
            text = work()
        if isinstance(text, TirError):
            raise text
        found.append(text)
    return found


def _send_texts(works: Sequence[Work], pipe: Connection) -> None:
    for work in works:
        try:
            pipe.send(work())
        except TirError as error:
            pipe.send(error)
            return
