"""The CPU seconds of a command and of all processes that it starts, whatever else the machine does."""

from __future__ import annotations

import ctypes
import os
import resource
import subprocess
import sys
from collections.abc import Sequence

_SUBREAPER = 36
"""PR_SET_CHILD_SUBREAPER: processes whose parent ends become children of this one, which waits for them."""


def cpu_seconds(command: Sequence[str]) -> tuple[int, float]:
    """Run a command to its end, and that of what it started. Returns its status and the CPU seconds."""
    ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)
    before = _children()
    status = subprocess.run(command, check=False).returncode
    while True:
        try:
            os.wait()
        except ChildProcessError:
            return status, _children() - before


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    code, seconds = cpu_seconds(sys.argv[1:])
    print(f"cpu seconds {seconds:.1f}", flush=True)
    sys.exit(code)
