"""NumPy's time for a program that is one product of matrices: what the table compares with."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

from tir_mlir.dialect.diagnostics import ScheduleError
from tir_mlir.schedule import Schedule
from tir_mlir.schedules.products.contraction import contraction

SECONDS = 60.0
"""After which NumPy is given up."""
_TYPES = ("float32", "float64")
_THREADS = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS", "BLIS_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
_CODE = """
import json, sys, time
import numpy as np
left, right, dtype, clock = json.loads(sys.argv[1])
clock = getattr(time, clock)
random = np.random.default_rng(0)
a, b = (random.random(shape).astype(dtype).transpose(axes) for shape, axes in (left, right))
out = np.empty(np.matmul(a, b).shape, dtype)
times, start = [], time.monotonic()
while len(times) < 15 or time.monotonic() - start < 0.3:
    begin = clock()
    np.matmul(a, b, out=out)
    times.append(clock() - begin)
    if time.monotonic() - start > 10:
        break
print(min(times))
"""


def numpy_seconds(program: Any, threads: int) -> float | None:
    """Seconds of NumPy's matmul for a program that is one product of floats of constant shape; None for others.

    The fastest of 15 runs or more, in a process of its own with this many threads, CPU time for one.
    """
    what = _arguments(program, threads)
    if what is None:
        return None
    limited = os.environ | {name: str(threads) for name in _THREADS}
    call = [sys.executable, "-c", _CODE, json.dumps(what)]
    try:
        done = subprocess.run(call, env=limited, capture_output=True, text=True, timeout=SECONDS, check=True)
        return float(done.stdout)
    except (subprocess.SubprocessError, OSError, ValueError):
        return None


def _arguments(program: Any, threads: int) -> list[Any] | None:
    """The shapes of the operands as they lie in memory, and the order of their axes for matmul: batch, m, k and n."""
    sch = Schedule(program)
    (function, *others) = sch.mod.functions
    blocks = sch.get_child_blocks(sch.get_block("root", function))
    if others or len(blocks) != 1:
        return None
    try:
        found = contraction(sch, blocks[0])
    except ScheduleError:
        return None
    types = {found.dtype, found.left.dtype, found.right.dtype}
    if None in found.extents.values() or len(types) != 1 or found.dtype not in _TYPES:
        return None
    operands = []
    for operand, inner in ((found.left, (found.m, found.k)), (found.right, (found.k, found.n))):
        if sorted(operand.axes) != sorted((*found.batch, *inner)):
            return None
        shape = [found.extents[axis] for axis in operand.axes]
        operands.append([shape, [operand.axes.index(axis) for axis in (*found.batch, *inner)]])
    return [*operands, found.dtype, "process_time" if threads == 1 else "perf_counter"]
