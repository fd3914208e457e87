"""What a running process has taken so far: CPU time and memory."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import time
from pathlib import Path

_TICKS = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100
_PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096
_DIE_WITH_PARENT = 1  # PR_SET_PDEATHSIG of Linux


def cpu_seconds(process: int) -> float:
    """CPU seconds of a process and all its threads, to 10 ms; 0.0 if it is gone or the system does not tell."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(") ")[2].split()
        return (int(fields[11]) + int(fields[12])) / _TICKS
    except (OSError, ValueError, IndexError):
        return 0.0


def resident_bytes(process: int) -> int:
    """Bytes of memory that a process occupies; 0 if it is gone or the system does not tell."""
    try:
        return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * _PAGE
    except (OSError, ValueError, IndexError):
        return 0


class Patience:
    """Wall seconds that a process is waited for. Time in which the watcher was stopped itself does not count."""

    def __init__(self, tick: float):
        self.most, self.waited, self.looked = 4 * tick, 0.0, time.monotonic()

    def look(self) -> float:
        """The seconds so far; called once a tick."""
        now = time.monotonic()
        self.waited += min(now - self.looked, self.most)
        self.looked = now
        return self.waited


def die_with_parent() -> None:
    """End this process when the thread that started it ends, also by kill -9, also while it is stopped (Linux)."""
    if sys.platform.startswith("linux"):
        ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, signal.SIGKILL)
