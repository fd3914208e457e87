"""Products of int8 summed in int32. B is within [-64, 63]; beyond that, libraries saturate on processors without
VNNI. The goal depends on the unit that the processor multiplies bytes with."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

import byhand
import peers
import tensor_programs
from contest import Contest, Goal, Work
from ours import scheduled
from tir_mlir.target import host

from .entering import contest, on_a_line

UNITS = {"amx-int8": 1.5, "avx512vnni": 1.0, "avxvnni": 1.0}
"""The instruction set of a unit, and our rate on it as a multiple of the best library's."""
LIBRARIES = ("mkl", "torch")
SHAPES = ((1024, 1024, 1024), (1000, 1000, 1000), (1023, 1023, 1023), (64, 1024, 1024))


def goal() -> Goal:
    """Return the goal for this machine's unit."""
    return Goal(next((factor for unit, factor in UNITS.items() if host().has(unit)), 1.0), LIBRARIES)


def works(threads: Sequence[int]) -> list[Work]:
    return [product(shape, t) for shape in SHAPES for t in threads]


def product(shape: tuple[int, int, int], threads: int) -> Work:
    m, n, k = shape
    return Work(
        "A @ B, int8 in int32", f"{m}x{n}x{k}", "int8", threads, "GOP/s", 2.0 * m * n * k,
        float(m * k + k * n), 4.0 * m * n, lambda: _contest(m, n, k, threads), (goal(),),
    )  # fmt: skip


def _contest(m: int, n: int, k: int, threads: int) -> Contest:
    rng = np.random.default_rng(0)
    a = on_a_line(rng.integers(-128, 128, (m, k)).astype(np.int8))
    b = on_a_line(rng.integers(-64, 64, (k, n)).astype(np.int8))
    expected = (a.astype(np.float64) @ b.astype(np.float64)).astype(np.int32)

    program = tensor_programs.product(m, n, k, "int8")
    return contest(
        expected, [a, b], lambda: scheduled(program, "C", "gemm", threads, byhand.gemm),
        {
            "mkl": lambda: peers.mkl.integer_product(a, b),
            "torch": lambda: peers.pytorch.integer_product(a, b),
        },
    )  # fmt: skip
