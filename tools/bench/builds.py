"""Build time of the chapter's program in a new process, with a cold and with a warm cache."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from contest import OURS, Goal
from measure import Stats
from rows import Row

_CODE = """
import time
from tir_mlir import build
from tir_mlir.examples.matmul import scheduled
sch = scheduled()
start = time.perf_counter()
lib = build(sch)
print(time.perf_counter() - start)
"""
COLD, CACHED = 0.150, 0.010  # upper bounds in seconds


def rows(root: Path, rounds: int = 5) -> list[Row]:
    """Return two rows, in builds per second."""
    cold, cached = [], []
    for _ in range(rounds):
        with tempfile.TemporaryDirectory(prefix="bench-") as folder:
            cold.append(_build(root, folder))
            cached.append(_build(root, folder))
    return [_row("cold", cold, COLD), _row("cached", cached, CACHED)]


def _build(root: Path, cache: str) -> float:
    """Return the build time in seconds, in a new process; excludes imports and scheduling."""
    environment = {**os.environ, "TIR_CACHE_DIR": cache, "PYTHONPATH": str(root)}
    command = [sys.executable, "-c", _CODE]
    done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    return float(done.stdout)


def _row(name: str, took: list[float], most: float) -> Row:
    stats = Stats.of(took).rate(1.0)
    return Row(
        f"build of the chapter's program, {name}", "1024x1024x1024", "float32", 1, "builds/s", stats.median, {}, None,
        (Goal(1 / most, ()),), spread={OURS: stats},
    )  # fmt: skip
