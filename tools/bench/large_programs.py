"""Costs of large programs: a step and a build among many blocks, a cooperative fetch, the check of a large product."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

from tir_mlir import Schedule
from tir_mlir.examples.matmul import matmul
from tir_mlir.schedules.products.gemm import gemm
from tir_mlir.script.parser import parse


def chain(count: int) -> Schedule:
    """A schedule of B = A + count, one nest for each addition."""
    buffers = ["A", *(f"X{n}" for n in range(count - 1)), "B"]
    lines = ["@T.prim_func", 'def main(A: T.Buffer((64, 64), "float32"), B: T.Buffer((64, 64), "float32")):']
    lines += [f'    {name} = T.alloc_buffer((64, 64), "float32")' for name in buffers[1:-1]]
    for number in range(count):
        lines += [
            "    for i, j in T.grid(64, 64):",
            f'        with T.block("b{number}"):',
            '            vi, vj = T.axis.remap("SS", [i, j])',
            f"            {buffers[number + 1]}[vi, vj] = {buffers[number]}[vi, vj] + 1.0",
        ]
    return Schedule(parse("\n".join(lines)))


def steps_among(count: int, runs: int = 5) -> dict[str, float]:
    """The seconds of steps and lookups in a program of `count` blocks, the least of some runs.

    The first step and the first lookup of a schedule are among them.
    """
    best: dict[str, float] = {}
    for _ in range(runs):
        for name, took in _steps(chain(count), f"b{count // 2}", count > 1):
            best[name] = min(best.get(name, took), took)
    return best


def _steps(sch: Schedule, name: str, has_producer: bool) -> Iterator[tuple[str, float]]:
    def timed(step: str, *args: Any) -> Any:
        start = time.perf_counter()
        result = getattr(sch, step)(*args)
        took.append((step, time.perf_counter() - start))
        return result

    took: list[tuple[str, float]] = []
    block = timed("get_block", name)
    i, j = timed("get_loops", block)
    i_0, i_1 = timed("split", i, [None, 8])
    timed("reorder", i_1, i_0)
    j_0, j_1 = timed("split", j, [None, 16])
    timed("vectorize", j_1)
    timed("parallel", i_1)
    fused = timed("fuse", i_0, j_0)
    if has_producer:
        copy = timed("cache_read", block, 0, "global")
        timed("compute_at", copy, fused)
    first = next(n for n, (step, _) in enumerate(took) if step == "split")
    took[first] = ("split, as the first step", took[first][1])
    yield from took


def growth(many: int = 300, few: int = 2) -> dict[str, float]:
    """How many times longer steps take in a program of `many` blocks than in one of `few`."""
    small, large = steps_among(few), steps_among(many)
    return {name: large[name] / small[name] for name in small}


def cooperative_fetch(k: int = 8) -> Iterator[float]:
    """The seconds of each step of a tiled product on a GPU: 128 x 128 tiles, fetched together by fused threads."""
    sch = Schedule(matmul(1024, 1024, 1024))
    timed = _Timed(sch)
    block = sch.get_child_blocks(sch.get_block("root"))[0]
    back = timed.cache_write(block, 0, "local")
    fetches = [timed.cache_read(block, operand, "shared") for operand in (0, 1)]
    i, j, r = sch.get_loops(block)
    (by, vy, ty, yi), (bx, vx, tx, xi) = (timed.split(lp, [None, 2, 8, 8]) for lp in (i, j))
    k_0, k_1 = timed.split(r, [None, k])
    timed.reorder(by, bx, vy, vx, ty, tx, k_0, k_1, yi, xi)
    thread = timed.fuse(ty, tx)
    timed.reverse_compute_at(back, thread)
    tags = ("blockIdx.y", "blockIdx.x", "vthread.y", "vthread.x", "threadIdx.x")
    for loop, tag in zip((by, bx, vy, vx, thread), tags, strict=True):
        timed.bind(loop, tag)
    for fetch in fetches:
        timed.compute_at(fetch, k_0)
        _, lanes, vector = timed.split(timed.fuse(*sch.get_loops(fetch)[-2:]), [None, 64, 4])
        timed.bind(lanes, "threadIdx.x")
        timed.vectorize(vector)
    timed.decompose_reduction(block, k_0)
    yield from timed.took


def checked_product() -> float:
    """The seconds of `verify` of a scheduled product of 1024 x 1024 x 1024."""
    sch = Schedule(matmul(1024, 1024, 1024))
    gemm(sch, sch.get_child_blocks(sch.get_block("root"))[0])
    start = time.perf_counter()
    assert sch.verify()
    return time.perf_counter() - start


class _Timed:
    """The steps of a schedule, timed."""

    def __init__(self, sch: Schedule):
        self._sch = sch
        self.took: list[float] = []

    def __getattr__(self, name: str) -> Callable[..., Any]:
        def step(*args: Any) -> Any:
            start = time.perf_counter()
            result = getattr(self._sch, name)(*args)
            self.took.append(time.perf_counter() - start)
            return result

        return step
