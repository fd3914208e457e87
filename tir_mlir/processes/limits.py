"""What a process that this package starts is held to: to end with its parent, and to so much memory and time."""

from __future__ import annotations

import ctypes
import os
import signal
import sys

_DIE_WITH_PARENT = 1  # PR_SET_PDEATHSIG of Linux


def die_with_parent(parent: int | None = None) -> None:
    """End this process when the thread that started it ends, also by kill -9, also while it is stopped (Linux).

    parent: the process that started it: where it has ended already, this one ends at once.
    """
    if sys.platform.startswith("linux"):
        ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, signal.SIGKILL)
    if parent is not None and os.getppid() != parent:
        os._exit(1)


def limit(memory: int, seconds: int) -> None:
    """Hold this process, and each that it forks, to so many bytes of data and seconds of a processor: memory beyond
    them is refused to it, and SIGXCPU ends it."""
    import resource  # Windows has none

    wanted = {resource.RLIMIT_DATA: memory, resource.RLIMIT_CPU: seconds, resource.RLIMIT_CORE: 0}
    for what, most in wanted.items():
        _, hard = resource.getrlimit(what)
        resource.setrlimit(what, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))
