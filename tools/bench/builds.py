"""Build times in a new process: the chapter's program with a cold and a warm cache, products of `schedules.gemm`."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from contest import OURS, Goal
from measure import Stats
from rows import Row

_CHAPTER = """
from tir_mlir.examples.matmul import schedule_matmul
sch = schedule_matmul()
"""
_PRODUCT = """
import tensor_programs
from tir_mlir import Schedule
from tir_mlir.schedules import gemm
sch = Schedule(tensor_programs.product({n}, {n}, {n}, "float32"))
gemm(sch, "C", threads=1)
"""
_BUILD = """
import time
from tir_mlir import build
start = time.perf_counter()
lib = build(sch)
print(time.perf_counter() - start)
"""
COLD, CACHED = 0.060, 0.010  # upper bounds in seconds
PRODUCTS = (1024, 512, 511, 127)


def rows(root: Path, rounds: int = 5) -> list[Row]:
    """Return the rows, in builds per second."""
    cold, cached = _times(root, _CHAPTER, rounds)
    name, shape = "build of the chapter's program", "1024x1024x1024"
    found = [_row(f"{name}, cold", shape, cold, COLD), _row(f"{name}, cached", shape, cached, CACHED)]
    for n in PRODUCTS:
        cold, _ = _times(root, _PRODUCT.format(n=n), rounds)
        found.append(_row("build of a product, cold", f"{n}x{n}x{n}", cold, COLD))
    return found


def _times(root: Path, program: str, rounds: int) -> tuple[list[float], list[float]]:
    """Seconds of the builds with a cold and with a warm cache."""
    cold, cached = [], []
    for _ in range(rounds):
        with tempfile.TemporaryDirectory(prefix="bench-") as folder:
            cold.append(_build(root, program, folder))
            cached.append(_build(root, program, folder))
    return cold, cached


def _build(root: Path, program: str, cache: str) -> float:
    """Return the build time in seconds, in a new process; excludes imports and scheduling."""
    path = os.pathsep.join((str(root), str(Path(__file__).parent)))
    environment = {**os.environ, "TIR_CACHE_DIR": cache, "PYTHONPATH": path}
    command = [sys.executable, "-c", program + _BUILD]
    done = subprocess.run(command, env=environment, check=False, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"a build failed:\n{done.stderr}")
    return float(done.stdout)


def _row(name: str, shape: str, took: list[float], most: float) -> Row:
    stats = Stats.of(took).rate(1.0)
    return Row(
        name, shape, "float32", 1, "builds/s", stats.median, {}, None,
        (Goal(1 / most, ()),), spread={OURS: stats},
    )  # fmt: skip
