"""The memory of a process that makes many different programs: `python -m harness.memory_growth KIND COUNT EVERY`.

Prints the resident MiB after each EVERY programs, once the garbage collector has run.
"""

from __future__ import annotations

import ctypes
import gc
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

from programs.parsed import parse

from tir_mlir import Schedule, build, from_torch

_OPERATORS = ("+ 1.0", "* 2.0", "- A[vi, vj]", "/ 3.0")


def resident() -> float:
    """The MiB that a process holds, without what its allocator keeps for later."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096 / (1 << 20)


def steps(number: int) -> None:
    """Schedule a chain of blocks of different extents; the steps leave remainders, so each is proved by isl."""
    random, count = Random(number), 12
    rows = [random.randrange(20, 4000) for _ in range(count)]
    lines = ["@T.prim_func", 'def main(X: T.Buffer((4000,), "float32")):']
    lines += [f'    Y{n} = T.alloc_buffer(({rows[n]},), "float32")' for n in range(count)]
    for n, extent in enumerate(rows):
        lines += [
            f"    for i in range({extent}):",
            f'        with T.block("b{n}"):',
            f"            vi = T.axis.spatial({extent}, i)",
            f"            Y{n}[vi] = X[vi] {'+-*'[number % 3]} T.float32({n})",
        ]
    sch = Schedule(parse("\n".join(lines)))
    for n in range(count):
        outer, inner = sch.split(sch.get_loops(f"b{n}")[0], [None, random.randrange(3, 17)])
        sch.reorder(inner, outer)


def kernel(number: int) -> None:
    """Schedule and build a pointwise function of a shape of its own."""
    random = Random(number)
    rows, columns = random.randrange(8, 200), random.randrange(8, 200)
    text = f"""
@T.prim_func
def main(A: T.Buffer(({rows}, {columns}), "float32"), B: T.Buffer(({rows}, {columns}), "float32")):
    for i, j in T.grid({rows}, {columns}):
        with T.block("b"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] {_OPERATORS[number % len(_OPERATORS)]}
"""
    sch = Schedule(parse(text))
    i, j = sch.get_loops("b")
    sch.split(i, [None, random.randrange(2, 9)])
    sch.vectorize(sch.split(j, [None, 8])[1])
    build(sch)


def model(number: int) -> None:
    """Import and build a model of two or three layers, of sizes of its own."""
    import torch  # only models need it
    from torch import nn

    random = Random(number)
    inputs, hidden, outputs = (random.randrange(8, 100) for _ in range(3))
    channels, rows = hidden % 8 + 1, torch.zeros(number % 4 + 1, inputs)
    cases: list[tuple[list[Any], Any]] = [
        ([nn.Linear(inputs, hidden), nn.ReLU(), nn.Linear(hidden, outputs)], rows),
        ([nn.Linear(inputs, hidden), nn.Tanh(), nn.LayerNorm(hidden), nn.Linear(hidden, outputs)], rows),
        ([nn.Conv2d(3, channels, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)], torch.zeros(1, 3, inputs // 2 + 4, 16)),
        ([nn.Linear(inputs, hidden), nn.GELU(), nn.Softmax(-1)], rows),
        ([nn.Conv1d(2, channels, 3), nn.Sigmoid(), nn.Flatten()], torch.zeros(1, 2, inputs)),
        ([nn.Linear(inputs, hidden), nn.SiLU(), nn.Linear(hidden, hidden), nn.ReLU()], rows),
    ]
    layers, x = cases[number % len(cases)]
    build(from_torch(nn.Sequential(*layers).eval(), x))


KINDS: dict[str, Callable[[int], None]] = {"steps": steps, "kernels": kernel, "models": model}


def main(kind: str, count: int, every: int) -> None:
    warnings.simplefilter("ignore")
    for number in range(count):
        KINDS[kind](number)
        if number % every == every - 1:
            print(round(resident(), 1), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
