"""Products with weights of 4 bits, two per byte, against products of floats and of int8.

With floats, groups of 32 weights have one scale. The weights are stored by output: byte j of a group holds its values j
and j + 16. With int8, sums are int32; by group, each sum of a group is int32 and has one scale, and one row is compared
with a loop that only reads as many bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

import bandwidth
import byhand
import peers
import tensor_programs
from contest import Contest, Contestant, Goal, Work
from ours import Scheduled, scheduled
from tir_mlir import Schedule, schedules

from .entering import contest

SHAPES = ((1, 4096, 4096), (32, 4096, 4096))
GROUP_SHAPES = ((1, 4096, 4096), (8, 4096, 4096), (512, 4096, 4096))
GOALS = (Goal(3.0, ("torch",)), Goal(1.5, ("torch int8",)))


def works(threads: Sequence[int]) -> list[Work]:
    old = [make(shape, t) for make in (product, integer_product) for shape in SHAPES for t in threads]
    return [*old, *(group_product(shape, t) for shape in GROUP_SHAPES for t in threads)]


def product(shape: tuple[int, int, int], threads: int) -> Work:
    """Rows of floats times dequantised weights."""
    m, n, k = shape
    return Work(
        "A @ W.T, int4 weights", f"{m}x{n}x{k}", "float32", threads, "GFLOP/s", 2.0 * m * n * k,
        4.0 * m * k + n * k / 2 + 4.0 * n * k / tensor_programs.GROUP, 4.0 * m * n,
        lambda: _contest(m, n, k, threads), GOALS[:1],
    )  # fmt: skip


def integer_product(shape: tuple[int, int, int], threads: int) -> Work:
    """Rows of int8 times weights of 4 bits."""
    m, n, k = shape
    return Work(
        "A @ W.T, int4 weights, int8", f"{m}x{n}x{k}", "int8", threads, "GOP/s", 2.0 * m * n * k,
        m * k + n * k / 2, 4.0 * m * n, lambda: _integer_contest(m, n, k, threads), GOALS,
    )  # fmt: skip


def group_product(shape: tuple[int, int, int], threads: int) -> Work:
    """Rows of int8 times weights of 4 bits with a scale for each group."""
    m, n, k = shape
    unit, goals = (
        ("GB/s", (Goal(0.85, ("memory",)),))
        if m == 1
        else ("GOP/s", (Goal(1.0, ("torch",)), Goal(1.2, ("llama.cpp",))))
    )
    return Work(
        "A @ W.T, int4 weights by group, int8", f"{m}x{n}x{k}", "int8", threads, unit, 2.0 * m * n * k,
        m * k + n * k / 2 + 4.0 * n * k / tensor_programs.GROUP, 4.0 * m * n,
        lambda: _group_contest(m, n, k, threads), goals,
    )  # fmt: skip


def _group_contest(m: int, n: int, k: int, threads: int) -> Contest:
    rng = np.random.default_rng(0)
    values, packed = _weights(n, k, rng)
    halves = rng.uniform(0.5, 1, (n, k // tensor_programs.GROUP)).astype(np.float16)
    a, scales = rng.integers(-127, 128, (m, k)).astype(np.int8), halves.astype(np.float32)
    a[:, :: tensor_programs.GROUP] = 127  # so that llama.cpp, which rounds a group by its largest element, is exact
    weights = values.astype(np.float32) * scales.repeat(tensor_programs.GROUP, axis=1)
    sch = Schedule(tensor_programs.by_group(m, n, k))
    panels = schedules.prepack(sch, "main", ["Q", "S"], threads=threads)
    given = {"Q": packed, "S": scales}
    arrays = [panels[name].apply(array) if panels else array for name, array in given.items()]
    wide = a.astype(np.float32)
    peers_of_work = {
        "torch": lambda: Contestant(peers.pytorch.product(wide, weights.T).call),
        "llama.cpp": lambda: peers.llama_cpp.product(packed, halves, wide),
    }
    if m == 1:
        size = sum(array.nbytes for array in arrays)
        peers_of_work["memory"] = lambda: Contestant(bandwidth.reads(size, threads)[0])
    return contest(wide @ weights.T, [a, *arrays], lambda: _by_auto(sch, threads), peers_of_work)


def _by_auto(sch: Schedule, threads: int) -> Scheduled:
    schedules.auto(sch, threads=threads)
    return Scheduled(sch, "library")


def _contest(m: int, n: int, k: int, threads: int) -> Contest:
    rng = np.random.default_rng(0)
    values, packed = _weights(n, k, rng)
    scales = rng.uniform(0.5, 1, (n, k // tensor_programs.GROUP)).astype(np.float32)
    a = rng.uniform(-1, 1, (m, k)).astype(np.float32)
    weights = values.astype(np.float32) * scales.repeat(tensor_programs.GROUP, axis=1)
    program = tensor_programs.dequantized(m, n, k)
    return contest(
        a @ weights.T, [packed, scales, a], lambda: scheduled(program, "C", "gemm", threads, byhand.gemm),
        {"torch": lambda: peers.pytorch.product(a, weights.T)},
    )  # fmt: skip


def _integer_contest(m: int, n: int, k: int, threads: int) -> Contest:
    rng = np.random.default_rng(0)
    values, packed = _weights(n, k, rng)
    a = rng.integers(-128, 128, (m, k)).astype(np.int8)
    expected = (a.astype(np.float64) @ values.T.astype(np.float64)).astype(np.int32)
    program = tensor_programs.dequantized(m, n, k, integers=True)
    return contest(
        expected, [packed, a], lambda: scheduled(program, "C", "gemm", threads, byhand.gemm), _libraries(a, values)
    )


def _libraries(a: np.ndarray, values: np.ndarray) -> Mapping[str, Callable[[], Contestant]]:
    """PyTorch's products of int8, and of floats, whose sums are not compared, as they are rounded."""
    wide, weights = a.astype(np.float32), values.astype(np.float32)
    return {
        "torch": lambda: Contestant(peers.pytorch.product(wide, weights.T).call),
        "torch int8": lambda: peers.pytorch.integer_product(a, np.ascontiguousarray(values.T)),
    }


def _weights(n: int, k: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Values from -8 to 7, and their bytes."""
    half = tensor_programs.GROUP // 2
    stored = rng.integers(0, 16, (n, k // (2 * half), 2, half)).astype(np.uint8)
    return stored.reshape(n, k).astype(np.int8) - np.int8(8), (stored[:, :, 0] | stored[:, :, 1] << 4).reshape(
        n, k // 2
    )
