"""Works beyond a plain product: softmax, layer norm, product with relu, a chain of elementwise operators."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

import byhand
import peers
import tensor_programs
from contest import Contest, Goal, Work
from ours import scheduled

from .entering import contest

ROWS, COLUMNS, EPSILON = 1024, 1024, 1e-5
LONG = (4096, 1024)  # shape of the chain: larger than the caches
GOALS = (Goal(1.0, ("torch",)),)


def works(threads: Sequence[int]) -> list[Work]:
    found = [softmax(ROWS, COLUMNS, t) for t in threads]
    found += [layer_norm(ROWS, COLUMNS, t) for t in threads]
    found += [product_relu(128, 1)]
    return found + [chain(*LONG, t) for t in threads]


def softmax(rows: int, columns: int, threads: int) -> Work:
    def make() -> Contest:
        x = _random(rows, columns) * 4
        power = np.exp(x - x.max(1, keepdims=True))
        return contest(
            power / power.sum(1, keepdims=True), [x],
            lambda: scheduled(tensor_programs.softmax(rows, columns), "out", "softmax", threads, byhand.by_row),
            {"torch": lambda: peers.pytorch.softmax(x)},
        )  # fmt: skip

    elements = rows * columns
    return Work(
        "softmax", f"{rows}x{columns}", "float32", threads, "GB/s", 5.0 * elements,
        4.0 * elements, 4.0 * elements, make, GOALS,
    )  # fmt: skip


def layer_norm(rows: int, columns: int, threads: int) -> Work:
    def make() -> Contest:
        x, scale, shift = _random(rows, columns), _random(columns), _random(columns)
        program = tensor_programs.layer_norm(rows, columns, EPSILON)
        middle, spread = x.mean(1, keepdims=True), x.var(1, keepdims=True)
        return contest(
            (x - middle) / np.sqrt(spread + np.float32(EPSILON)) * scale + shift, [x, scale, shift],
            lambda: scheduled(program, "out", "layer_norm", threads, byhand.by_row),
            {"torch": lambda: peers.pytorch.layer_norm(x, scale, shift, EPSILON)},
        )  # fmt: skip

    elements = rows * columns
    return Work(
        "layer norm", f"{rows}x{columns}", "float32", threads, "GB/s", 9.0 * elements,
        4.0 * elements, 4.0 * elements, make, GOALS,
    )  # fmt: skip


def product_relu(n: int, threads: int) -> Work:
    def make() -> Contest:
        a, b = _random(n, n), _random(n, n)
        program = tensor_programs.product(n, n, n, relu=True)
        return contest(
            np.maximum(a @ b, 0), [a, b], lambda: scheduled(program, "C", "gemm", threads, byhand.gemm),
            {"torch": lambda: peers.pytorch.product_relu(a, b)},
        )  # fmt: skip

    return Work(
        "mm_relu", f"{n}x{n}x{n}", "float32", threads, "GFLOP/s", 2.0 * n**3, 8.0 * n * n, 4.0 * n * n, make, GOALS
    )  # fmt: skip


def chain(rows: int, columns: int, threads: int) -> Work:
    def make() -> Contest:
        x, y, z = (_random(rows, columns) for _ in range(3))
        return contest(
            np.maximum(x * y + z, 0) * x - y, [x, y, z],
            lambda: scheduled(tensor_programs.chain(rows, columns), "out", "elementwise", threads, byhand.chain),
            {"torch": lambda: peers.pytorch.chain(x, y, z)},
        )  # fmt: skip

    elements = rows * columns
    return Work(
        "relu(x * y + z) * x - y", f"{rows}x{columns}", "float32", threads, "GB/s", 5.0 * elements,
        12.0 * elements, 4.0 * elements, make, GOALS,
    )  # fmt: skip


def _random(*shape: int) -> np.ndarray:
    return np.random.default_rng(len(shape)).uniform(-1, 1, shape).astype(np.float32)
