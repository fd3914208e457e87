"""Thread counts of all libraries in this process, and waiting until they are idle."""

from __future__ import annotations

import ctypes
import os
import time
from collections.abc import Callable, Iterable

from tir_mlir.runtime.drivers import shared_libraries

QUIET = 0.2  # CPU share of one core below which the process counts as idle
WAIT = 1.0  # maximum seconds


def counts() -> list[int]:
    """Return the thread counts to measure: one, and all cores available to this process."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return sorted({1, cores})


def set_threads(number: int, peers: Iterable[Callable[[int], object]] = ()) -> None:
    """Set the thread count of our parallel loops and of the peers."""
    shared_libraries.load(shared_libraries.openmp()).omp_set_num_threads(ctypes.c_int(number))
    for tell in peers:
        tell(number)


def quiet() -> None:
    """Wait until no thread of this process runs.

    The threads of a library spin for a while after its last loop (OpenMP: 200 ms) and would otherwise take cores from
    the next contestant.
    """
    end = time.perf_counter() + WAIT
    while time.perf_counter() < end:
        wall, busy = time.perf_counter(), time.process_time()
        time.sleep(0.005)
        if time.process_time() - busy < QUIET * (time.perf_counter() - wall):
            return
