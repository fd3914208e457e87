"""What a running process has taken so far: CPU time and memory."""

from __future__ import annotations

import os
import time
from pathlib import Path

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
