"""How many threads everybody in this process may use, and waiting until none of them is busy."""

from __future__ import annotations

import ctypes
import os
import time
from collections.abc import Callable, Iterable

from tir_mlir.runtime.drivers import shared_libraries

QUIET = 0.2  # share of one core that the whole process may still use to count as quiet
WAIT = 1.0  # seconds, at most


def counts() -> list[int]:
    """The numbers of threads to measure with: one, and all cores that this process may use."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return sorted({1, cores})


def set_threads(number: int, peers: Iterable[Callable[[int], object]] = ()) -> None:
    """From now on our parallel loops and those of the peers use that many."""
    shared_libraries.load(shared_libraries.openmp()).omp_set_num_threads(ctypes.c_int(number))
    for tell in peers:
        tell(number)


def quiet() -> None:
    """Wait until no thread of this process runs.

    The threads of a library spin for a while after its last loop (OpenMP: 200 ms); on a machine with as many cores as
    threads they would take the cores from whoever is measured next.
    """
    end = time.perf_counter() + WAIT
    while time.perf_counter() < end:
        wall, busy = time.perf_counter(), time.process_time()
        time.sleep(0.005)
        if time.process_time() - busy < QUIET * (time.perf_counter() - wall):
            return
