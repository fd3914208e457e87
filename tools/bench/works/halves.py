"""Products of 16-bit floats summed in float32. Elements are -1, 0 and 1, so every sum is exact in all types."""

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

UNITS = {"bfloat16": "amx-bf16", "float16": "amx-fp16"}


def goals(dtype: str) -> tuple[Goal, ...]:
    """Return the goal where a matrix unit has the type; elsewhere the operands are widened, and there is none."""
    return (Goal(0.9, ("torch",)),) if host().has("amx-tile", UNITS[dtype]) else ()


def works(threads: Sequence[int]) -> list[Work]:
    return [product((1024,) * 3, dtype, t) for dtype in ("float16", "bfloat16") for t in threads]


def product(shape: tuple[int, ...], dtype: str, threads: int) -> Work:
    m, n, k = shape
    return Work(
        f"A @ B, {dtype} in float32", f"{m}x{n}x{k}", "float32", threads, "GFLOP/s", 2.0 * m * n * k,
        2.0 * (m * k + k * n), 4.0 * m * n, lambda: _contest(m, n, k, dtype, threads),
        goals(dtype),
    )  # fmt: skip


def _contest(m: int, n: int, k: int, dtype: str, threads: int) -> Contest:
    rng = np.random.default_rng(0)
    a, b = (rng.integers(-1, 2, s).astype(np.float32) for s in ((m, k), (k, n)))
    inputs = [on_a_line(narrow(x, dtype)) for x in (a, b)]
    program = tensor_programs.product(m, n, k, dtype)
    return contest(
        a @ b, inputs, lambda: scheduled(program, "C", "gemm", threads, byhand.gemm),
        {"torch": lambda: peers.pytorch.half_product(*inputs)},
    )  # fmt: skip


def narrow(x: np.ndarray, dtype: str) -> np.ndarray:
    """Convert to 16 bits; bfloat16, which NumPy lacks, as bit patterns."""
    return (x.view(np.uint32) >> 16).astype(np.uint16) if dtype == "bfloat16" else x.astype(dtype)
