"""The times of NumPy and PyTorch for a program that is one product of matrices: what the table compares with."""

from __future__ import annotations

import importlib.util
import json
import os
from typing import TYPE_CHECKING

from tir_mlir import processes
from tir_mlir.dialect.diagnostics import ScheduleError
from tir_mlir.schedule import Schedule
from tir_mlir.schedules.products.contraction import contraction

if TYPE_CHECKING:
    from tir_mlir.script.module import IRModule, PrimFunc

SECONDS = 60.0
"""After which a library is given up."""
_TYPES = ("float32", "float64")
_THREADS = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS", "BLIS_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
_LIBRARIES = {
    "NumPy": (
        "numpy",
        """
import numpy as np
def operand(shape, axes):
    return np.random.default_rng(0).random(shape).astype(dtype).transpose(axes)
def empty(shape):
    return np.empty(shape, dtype)
matmul = np.matmul
""",
    ),
    "PyTorch": (
        "torch",
        """
import torch
torch.set_num_threads(threads)
torch.set_grad_enabled(False)
def operand(shape, axes):
    return torch.rand(shape, dtype=getattr(torch, dtype)).permute(axes)
def empty(shape):
    return torch.empty(shape, dtype=getattr(torch, dtype))
matmul = torch.matmul
""",
    ),
}
"""Libraries by their names in the table: the module, and what `_CODE` needs of it."""
_CODE = """
import json, os, sys, time
parent, (left, right, dtype, clock), threads = os.getppid(), json.loads(sys.argv[1]), int(sys.argv[2])
clock = getattr(time, clock)
{library}
a, b = operand(*left), operand(*right)
out = empty(matmul(a, b).shape)
times, start = [], time.monotonic()
while (len(times) < 15 or time.monotonic() - start < 0.3) and os.getppid() == parent:
    begin = clock()
    matmul(a, b, out=out)
    times.append(clock() - begin)
    if time.monotonic() - start > 10:
        break
print(min(times))
"""


def matmul_seconds(program: IRModule | PrimFunc, threads: int) -> dict[str, float]:
    """Seconds of matmul by library, for a program that is one product of floats of constant shape; none for others.

        for i, j, k: C[i, j] += A[i, k] * B[j, k]    ->    {"NumPy": 0.0011, "PyTorch": 0.0010}

    The fastest of 15 runs or more, in a process of its own with this many threads, CPU time for one. A library that is
    not installed, or fails, is left out.
    """
    what = _arguments(program, threads)
    if what is None:
        return {}
    times = {name: _seconds(name, what, threads) for name in _LIBRARIES}
    return {name: seconds for name, seconds in times.items() if seconds is not None}


def _seconds(name: str, what: list[object], threads: int) -> float | None:
    module, library = _LIBRARIES[name]
    if importlib.util.find_spec(module) is None:
        return None
    limited = os.environ | {variable: str(threads) for variable in _THREADS}
    call = processes.Python(_CODE.replace("{library}", library), (json.dumps(what), str(threads)))
    try:
        done = processes.run(call, env=limited, capture_output=True, text=True, timeout=SECONDS, check=True)
        return float(done.stdout)
    except (processes.Failed, OSError, ValueError):
        return None


def _arguments(program: IRModule | PrimFunc, threads: int) -> list[object] | None:
    """The shapes of the operands as they lie in memory, and the order of their axes for matmul: batch, m, k and n."""
    sch = Schedule(program)
    (function, *others) = sch.mod.prim_funcs
    blocks = sch.get_child_blocks(sch.get_block("root", function))
    if others or len(blocks) != 1:
        return None
    try:
        product = contraction(sch, blocks[0])
    except ScheduleError:
        return None
    types = {product.dtype, product.left.dtype, product.right.dtype}
    if None in product.extents.values() or len(types) != 1 or product.dtype not in _TYPES:
        return None
    operands = []
    for operand, inner in ((product.left, (product.m, product.k)), (product.right, (product.k, product.n))):
        if sorted(operand.axes) != sorted((*product.batch, *inner)):
            return None
        shape = [product.extents[axis] for axis in operand.axes]
        operands.append([shape, [operand.axes.index(axis) for axis in (*product.batch, *inner)]])
    return [*operands, product.dtype, "process_time" if threads == 1 else "perf_counter"]
