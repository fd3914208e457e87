"""Floating-point matrix products: square, odd, small, thin, large, and of one row. Shapes are m x n x k."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

import byhand
import peers
import tensor_programs
from contest import Contest, Goal, Work
from ours import scheduled

from .entering import contest

ODD = (127, 255, 511, 1000, 1023)
SMALL = (8, 16, 24, 32, 48, 64, 96)
THIN = ((4096, 64, 4096), (64, 64, 4096), (4096, 4096, 4096))
LIBRARIES = ("mkl", "numpy", "torch")
LEVEL = (Goal(1.05, LIBRARIES),)


def works(threads: Sequence[int]) -> list[Work]:
    found = [product("A @ B.T", (1024,) * 3, t, LEVEL, trans_b=True) for t in threads]
    found += [product("A @ B, float64", (1024,) * 3, t, LEVEL, dtype="float64") for t in threads]
    found += [product("A @ B, odd", (n,) * 3, t, LEVEL) for n in ODD for t in threads]
    found += [product("A @ B, small, with the call", (n,) * 3, 1, (Goal(1.2, LIBRARIES),)) for n in SMALL]
    found += [product("A @ B, thin and large", shape, t, (Goal(1.1, LIBRARIES),)) for shape in THIN for t in threads]
    return found + [product("a @ B", (1, 4096, 4096), t, (Goal(1.0, LIBRARIES),)) for t in threads]


def product(
    work: str,
    shape: tuple[int, ...],
    threads: int,
    goals: tuple[Goal, ...],
    *,
    dtype: str = "float32",
    trans_b: bool = False,
) -> Work:
    """C = A @ B, or A @ B.T with `trans_b`."""
    m, n, k = shape
    size = float(np.dtype(dtype).itemsize)
    return Work(
        work, f"{m}x{n}x{k}", dtype, threads, "GFLOP/s", 2.0 * m * n * k, size * (m * k + k * n), size * m * n,
        lambda: _contest(m, n, k, dtype, trans_b, threads), goals,
    )  # fmt: skip


def _contest(m: int, n: int, k: int, dtype: str, trans_b: bool, threads: int) -> Contest:
    rng = np.random.default_rng(0)
    a = rng.uniform(-1, 1, (m, k)).astype(dtype)
    b = rng.uniform(-1, 1, (n, k) if trans_b else (k, n)).astype(dtype)
    seen = b.T if trans_b else b

    program = tensor_programs.product(m, n, k, dtype, trans_b)
    return contest(
        a @ seen, [a, b], lambda: scheduled(program, "C", "gemm", threads, byhand.gemm),
        {
            "numpy": lambda: peers.numpy_blas.product(a, seen, dtype),
            "mkl": lambda: peers.mkl.product(a, seen),
            "torch": lambda: peers.pytorch.product(a, seen),
        },
    )  # fmt: skip
