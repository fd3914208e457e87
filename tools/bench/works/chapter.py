"""The schedule of the hardware-specialization chapter as printed, with our kernel and with the chapter's C kernel."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

import peers
from contest import Contest, Goal, Work
from ours import Scheduled
from tir_mlir import create_llvm
from tir_mlir.examples.matmul import C_KERNEL, schedule_matmul

from .entering import contest


def works(threads: Sequence[int]) -> list[Work]:
    return [tensorized(1024, "MLIR", (Goal(0.65, ("numpy",)),)), tensorized(1024, "C", ())]


def tensorized(n: int, kernel: str, goals: tuple[Goal, ...]) -> Work:
    """A @ B.T in 16 x 16 x 16 tiles; n is a multiple of 16."""
    return Work(
        f"chapter, tensorized, kernel in {kernel}", f"{n}x{n}x{n}", "float32", 1, "GFLOP/s", 2.0 * n**3,
        8.0 * n * n, 4.0 * n * n, lambda: _contest(n, kernel), goals,
    )  # fmt: skip


def _contest(n: int, kernel: str) -> Contest:
    rng = np.random.default_rng(0)
    a, b = (rng.random((n, n), dtype=np.float32) for _ in range(2))
    return contest(
        a @ b.T, [a, b],
        lambda: Scheduled(schedule_matmul(n, n, n, None if kernel == "MLIR" else create_llvm(C_KERNEL)), "as printed"),
        {"numpy": lambda: peers.numpy_blas.product(a, b.T, np.float32), "mkl": lambda: peers.mkl.product(a, b.T)},
    )  # fmt: skip
