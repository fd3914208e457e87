"""What a running process takes: CPU time, memory, waiting; and the limits that it passes."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path

PATIENCE = 5
"""Seconds of waiting per second of a limit: a limit is one of CPU time, so that a busy machine ends nothing."""
_TICKS = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100
_PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096


def cpu_seconds(process: int) -> float:
    """CPU seconds of a process and all its threads, to 10 ms; 0.0 if it is gone or the system does not tell."""
    try:
        fields = _fields(process)
        return (int(fields[11]) + int(fields[12])) / _TICKS
    except (ValueError, IndexError):
        return 0.0


def _fields(process: int) -> list[str]:
    """What Linux tells of a process, from its state on."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(") ")[2].split()
    except OSError:
        return []


def resident_bytes(process: int) -> int:
    """Bytes of memory that a process occupies; 0 if it is gone or the system does not tell."""
    try:
        return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * _PAGE
    except (OSError, ValueError, IndexError):
        return 0


class Patience:
    """Wall seconds that a process waits for something else than a processor.

    Time in which it is ready to run, or stopped, does not count, nor that in which the watcher was stopped itself.
    """

    def __init__(self, process: int, tick: float):
        self.process, self.most = process, 4 * tick
        self.waited, self.looked = 0.0, time.monotonic()

    def look(self) -> float:
        """The seconds so far; called once a tick."""
        instant = time.monotonic()
        if _fields(self.process)[:1] not in (["R"], ["T"]):
            self.waited += min(instant - self.looked, self.most)
        self.looked = instant
        return self.waited


def gigabytes(size: int) -> str:
    """A number of bytes as text."""
    return f"{size / (1 << 30):.3g} GiB"


@dataclass(frozen=True)
class Excess:
    """A limit that a process has passed: of memory, or of time."""

    of_memory: bool
    reason: str


class Watch:
    """What a process takes from now on, looked at once a tick.

    words: how a reason begins for memory, CPU time and waiting: ("running it takes", "it runs", "it waits").
    """

    def __init__(self, process: int, tick: float, words: tuple[str, str, str]):
        self._process, self._words = process, words
        self._patience, self._cpu = Patience(process, tick), cpu_seconds(process)
        self.resident = resident_bytes(process)
        """Bytes that it occupied at first."""

    def excess(self, seconds: float, memory: int, threads: int = 1) -> Excess | None:
        """The limit that it has passed: CPU seconds a thread, five times that of waiting, bytes that it took."""
        waited = self._patience.look()
        takes, runs, waits = self._words
        if resident_bytes(self._process) - self.resident > memory:
            return Excess(True, f"{takes} more than {gigabytes(memory)} of memory")
        if cpu_seconds(self._process) - self._cpu > seconds * threads:
            return Excess(False, f"{runs} longer than {seconds:g} s of CPU time")
        if waited > PATIENCE * seconds:
            return Excess(False, f"{waits} longer than {PATIENCE * seconds:g} s")
        return None
