"""Matrix products of sizes that are known when they run, against the same product of constant sizes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

import byhand
import peers
import tensor_programs
from contest import Contest, Goal, Work
from ours import scheduled

from .entering import compiled, contest

SIZES = (
    (1024, 1024, 1024),
    (127, 127, 127),
    (511, 511, 511),
    (4096, 64, 4096),
    (64, 64, 4096),
    (1, 1024, 1024),
    (16, 1024, 1024),
)


def works(threads: Sequence[int]) -> list[Work]:
    return [_product(shape, t) for shape in SIZES for t in threads]


def _product(shape: tuple[int, int, int], threads: int) -> Work:
    m, n, k = shape
    return Work(
        "A @ B, symbolic sizes", f"{m}x{n}x{k}", "float32", threads, "GFLOP/s", 2.0 * m * n * k, 4.0 * (m * k + k * n),
        4.0 * m * n, lambda: _contest(m, n, k, threads), (Goal(0.9, ("constant",)),),
    )  # fmt: skip


def _contest(m: int, n: int, k: int, threads: int) -> Contest:
    rng = np.random.default_rng(0)
    a, b = (rng.uniform(-1, 1, shape).astype("float32") for shape in ((m, k), (k, n)))
    constant = lambda: scheduled(tensor_programs.product(m, n, k), "C", "gemm", threads, byhand.gemm)  # noqa: E731
    return contest(
        a @ b, [a, b], lambda: scheduled(tensor_programs.any_product(), "C", "gemm", threads, byhand.gemm),
        {
            "constant": lambda: compiled(constant().schedule, [a, b], np.empty((m, n), "float32")),
            "numpy": lambda: peers.numpy_blas.product(a, b),
        },
    )  # fmt: skip
