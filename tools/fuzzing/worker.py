"""A process that runs items one by one, so that a crash or hang is confined to it."""

from __future__ import annotations

import faulthandler
import fcntl
import os
import resource
import signal
import sys
import time
import traceback
from collections.abc import Mapping
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from fuzzing.items import Item, Outcome
from fuzzing.kinds import Fault, Kind, Record
from fuzzing.tape import Tape
from tir_mlir.processes import death, status
from tir_mlir.processes.child import Child
from tir_mlir.processes.limits import die_with_parent

MEMORY = 24 << 30
"""Address space limit of a worker in bytes: exhausting it fails the item, not the machine."""
START = 120.0
"""Startup limit of a worker in seconds, for its imports. Time in which it waits for a core does not count."""
PARTING = 5.0
"""Seconds in which an idle worker ends by itself."""
SETTINGS = {
    **{"KMP_BLOCKTIME": "0", "OMP_NUM_THREADS": "2", "OPENBLAS_NUM_THREADS": "1"},
    **{"MALLOC_PERTURB_": "128", "GLIBC_TUNABLES": "glibc.malloc.tcache_count=0"},
}
"""Of a worker's environment: few threads, and glibc overwrites memory that is freed, so that a use of it is seen, but
not what its cache of a thread has."""
_CODE = "from fuzzing.worker import serve; serve(int(sys.argv[1]))"


class Worker:
    """The parent's side. `limit`: seconds per item, without those in which it waits for a core."""

    def __init__(self, kinds: Mapping[str, Kind], limit: float):
        self.limit = limit
        self.done = 0
        self.ready = False
        self.item: Item | None = None
        self.started, self.waited = time.monotonic(), 0.0
        self.child = Child(_CODE, (), {**SETTINGS, **os.environ})
        self.child.send(dict(kinds))

    def start(self, item: Item) -> None:
        self.item = item
        self._begin()  # and again when the worker is ready
        with suppress(BrokenPipeError, ConnectionResetError):  # it died while idle: `outcome` detects it
            self.child.send(item)

    def _begin(self) -> None:
        self.started, self.waited = time.monotonic(), waited(self.child.id)

    @property
    def left(self) -> float:
        """Seconds until its item times out, at the earliest."""
        left = (self.limit if self.ready else START) - (time.monotonic() - self.started)
        return left if left > 0 else left + waited(self.child.id) - self.waited

    def outcome(self) -> Outcome | None:
        """Return the outcome of its item; None while it runs. A worker that is not `alive` afterwards must be
        replaced."""
        assert self.item is not None
        if self.child.pipe.poll():
            try:
                found: Outcome | None = self.child.receive()
            except (EOFError, ConnectionResetError):
                code = self.child.wait() or 0
                return self._ended("aborted", death("the process", code), status(code).rsplit(maxsplit=1)[-1])
            if found is None:
                self.ready = True
                self._begin()
                return None
            self.done += 1
            self.item = None
            return found
        if self.left > 0:
            return None
        os.kill(self.child.id, signal.SIGUSR1)  # dumps the stack of the hang
        time.sleep(0.2)
        return self._ended("hung", f"no answer in {self.limit if self.ready else START:g} s", "no answer")

    def _ended(self, verdict: str, cause: str, label: str) -> Outcome:
        item, self.item = self.item, None
        assert item is not None
        text = f"{cause}\n{self.child.last_words(6000)}"
        self.stop()
        return Outcome(item, verdict, label, text)

    @property
    def alive(self) -> bool:
        return not self.child.pipe.closed and self.child.is_alive

    def stop(self) -> None:
        """Stop the worker and its children; one that is idle may put away what it holds of the system."""
        if self.ready and self.item is None:
            with suppress(BrokenPipeError, ConnectionResetError):
                self.child.send(None)
                self.child.wait(PARTING)
        if self.child.is_alive:
            with suppress(ProcessLookupError, PermissionError):  # not yet a process group leader
                os.killpg(self.child.id, signal.SIGKILL)
        self.child.close()


def waited(pid: int | None) -> float:
    """Seconds for which the thread of a process that waited most was ready and had no core; 0 where no file says so."""
    files = Path(f"/proc/{pid}/task").glob("*/schedstat")
    try:
        return max((int(file.read_text().split()[1]) / 1e9 for file in files), default=0.0)
    except (OSError, IndexError):  # it has ended
        return 0.0


# --- the worker's side ------------------------------------------------------------------------------------------------


def serve(handle: int) -> None:
    """Run the items that come through the pipe at this descriptor, after their kinds, until None arrives."""
    conn = Connection(handle)
    die_with_parent()
    os.setsid()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    kinds: dict[str, Kind] = conn.recv()
    if not any(kind.unlimited for kind in kinds.values()):
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    os.dup2(2, 1)
    fcntl.fcntl(2, fcntl.F_SETFL, os.O_APPEND)  # of the file that the parent reads: an item starts it anew
    faulthandler.enable(sys.__stderr__ or 2)
    faulthandler.register(signal.SIGUSR1, sys.__stderr__ or 2)
    conn.send(None)  # imports are done
    while True:
        try:
            item: Item | None = conn.recv()
        except EOFError:
            return
        if item is None:
            return
        os.ftruncate(2, 0)
        conn.send(run(item, kinds[item.kind]))


def run(item: Item, kind: Kind) -> Outcome:
    """Run an item in this process."""
    tape = Tape(item.seed, item.play, item.journal)
    try:
        found: Any = kind.case(tape)
    except Fault as fault:
        return Outcome(item, "wrong", label(str(fault)), str(fault), played=tape.noted, rss=_rss())
    except Exception as error:  # any other error is a finding too
        word = f"{type(error).__name__}: {error}"
        return Outcome(item, "wrong", label(word), f"{word}\n{traceback.format_exc()}", played=tape.noted, rss=_rss())
    record = found if isinstance(found, Record) else Record(str(found))
    text = record.story() if item.told else ""
    return Outcome(item, "fine", record.word, text, record.counts, tape.noted, _rss())


def label(text: str) -> str:
    """Return the key by which faults are grouped: the first words, without numbers and names."""
    line = text.strip().partition("\n")[0]
    words = ["_" if any(c.isdigit() or c in "\"'`" for c in w) else w for w in line.split()]
    return " ".join(words[:8])


def _rss() -> int:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize() >> 20
