"""The machine: its description, its load and its roofline."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from pathlib import Path

import bandwidth
import peers
from measure import clock_for, interleaved
from peak import peak
from roofline import Point, Roofs, settled
from threads import set_threads
from tir_mlir.runtime.tools.toolchain import versions
from tir_mlir.target.host import host

TYPES = ("float32", "float64", "int8")


def facts() -> dict[str, str]:
    """Return the facts about the machine that a reader needs to interpret the results."""
    return {
        "cpu": _cpu(),
        "cores": str(os.cpu_count()),
        "vectors": f"{host().vector_bits} bits, {host().registers} registers",
        "python": platform.python_version(),
        "mlir": versions()["mlir"].split(" ")[0],
        "load": _load(),
        **peers.describe(),
    }


def roofs(threads: Sequence[int], shared: bool = False) -> Roofs:
    """Measure the roofs as the best of many short rounds; other load can only lower a rate. shared: see `clock_for`."""
    peaks: dict[tuple[str, int], float] = {}
    curves: dict[int, list[Point]] = {}
    fewer = 0
    for number in sorted(threads):
        set_threads(number)
        clock = clock_for(shared, number)
        for dtype in TYPES:
            if (found := peak(dtype, number, clock)) is not None:
                call, operations = found
                best = interleaved({"": call}, rounds=51, clock=clock)[""].rate(operations).greatest
                peaks[dtype, number] = max(best, peaks.get((dtype, fewer), 0.0))
        curves[number] = settled(bandwidth.curve(number, clock), curves.get(fewer, []))
        fewer = number
    return Roofs(peaks, curves)


def _load() -> str:
    """Return the system load before the run; results from a busy machine are unreliable."""
    busy = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    return f"{busy:.1f} runnable processes on average over the last minute"


def _cpu() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    return next((line.split(": ")[1] for line in lines if line.startswith("model name")), platform.machine())
