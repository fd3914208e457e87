"""The machine: its description, its load and its roofline."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import bandwidth
import peers
from measure import clock_for, interleaved
from peak import peak
from roofline import Point, Roofs, as_peak, settled
from threads import set_threads
from tir_mlir.runtime.tools.toolchain import versions
from tir_mlir.target import Target, chosen
from tir_mlir.target.host import host
from tir_mlir.target.work_cost import multiply_add_rate

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
            if (best := _peak_rate(dtype, number, clock)) is not None:
                peaks[dtype, number] = max(best, peaks.get((dtype, fewer), 0.0))
        curves[number] = settled(bandwidth.curve(number, clock), curves.get(fewer, []))
        fewer = number
    return Roofs(peaks, curves)


def with_peak(roofs: Roofs, dtype: str, threads: int) -> Roofs:
    """Roofs of a shared machine whose peak of a type is the greater of the known one and that of this moment."""
    key = as_peak(dtype), threads
    if key not in roofs.peaks:
        return roofs
    now = _peak_rate(*key, clock_for(True, threads)) or 0.0
    return Roofs({**roofs.peaks, key: max(now, roofs.peaks[key])}, roofs.curves)


def _peak_rate(dtype: str, threads: int, clock: Callable[[], float] | None) -> float | None:
    """The most operations a second; None if the type has no instruction."""
    if (found := peak(dtype, threads, clock)) is None:
        return None
    call, operations = found
    operations *= tile_rate(dtype, chosen(None))
    return interleaved({"": call}, rounds=51, clock=clock)[""].rate(operations).greatest


def tile_rate(dtype: str, cpu: Target) -> float:
    """The rate of the unit of tiles over that of vectors, which is measured; 1 without one."""
    vectors = replace(cpu, features=cpu.features - {"amx-tile"})
    return multiply_add_rate(dtype, cpu, 1024) / multiply_add_rate(dtype, vectors, 1024)


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
