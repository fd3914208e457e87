"""Costs of tir_mlir itself: import, parsing, schedule steps, lowering, code generation, call overhead."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

import kernels
import large_programs
import random_steps
from measure import Stats, seconds
from tir_mlir import Schedule, build
from tir_mlir.examples.matmul import matmul, steps
from tir_mlir.script import IRModule
from tir_mlir.script import tir as T

_IMPORT = """
import time
start = time.perf_counter()
import tir_mlir{more}
took = time.perf_counter() - start
import sys
context = sys.modules.get("tir_mlir.dialect.ir.context")
assert context is None or context._context is None, "importing made an MLIR context"
print(took)
"""
_ALL = "; from tir_mlir import Schedule, TensorIntrin, build; from tir_mlir.script import ir, tir"


@dataclass(frozen=True)
class Cost:
    """One measurement. `goal` is a bound such as "<= 80" or ">= 40", or None."""

    group: str
    name: str
    unit: str
    stats: Stats
    goal: str | None = None

    @property
    def met(self) -> bool | None:
        """Whether the median meets the goal."""
        if self.goal is None:
            return None
        sign, bound = self.goal.split()
        return self.stats.median >= float(bound) if sign == ">=" else self.stats.median <= float(bound)

    def plain(self) -> dict[str, Any]:
        """Return JSON values."""
        return {**asdict(self), "met": self.met}


def costs(n: int, rounds: int, root: Path) -> list[Cost]:
    """Return all measurements, in pipeline order."""
    return [
        *_imports(rounds, root),
        *_schedule(n, rounds),
        _step(),
        *_build(n, rounds),
        _call(),
        *_large(),
        *_kernels(rounds),
    ]


def _large() -> list[Cost]:
    """Time steps, a build and a check of large programs."""
    group, built = "large programs", []
    for _ in range(3):
        sch = large_programs.chain(300)
        with _empty_cache():
            built.append(seconds(lambda sch=sch: build(sch)))
    small, large = large_programs.steps_among(1), large_programs.steps_among(300)
    return [
        Cost(group, "a split in a program of 1 block", "ms", Stats.of([1e3 * small["split"]])),
        Cost(group, "a split in a program of 300 blocks", "ms", Stats.of([1e3 * large["split"]])),
        *(
            Cost(group, f"{name}: 300 blocks / 2", "times", Stats.of([times]), "<= 2")
            for name, times in large_programs.growth().items()
        ),
        Cost(group, "build of 300 blocks", "s", Stats.of(built), "<= 2"),
        Cost(
            group,
            "a step on a cooperative fetch",
            "ms",
            Stats.of(list(large_programs.cooperative_fetch())).times(1e3),
            "<= 50",
        ),
        Cost(group, "verify of gemm at 1024^3", "s", Stats.of([large_programs.checked_product()]), "<= 1"),
    ]


def _kernels(rounds: int) -> list[Cost]:
    """Time kernels for a GPU, in processor time."""
    group, built, ran = "kernels for a GPU", kernels.build_seconds(4096, rounds), kernels.machine_seconds(256, rounds)
    return [
        Cost(group, "build of a product, 4096^3", "ms", Stats.of(built).times(1e3), "<= 600"),
        Cost(group, "PTX machine: a product, 256^3, all checks", "s", Stats.of(ran), "<= 2"),
    ]


def _imports(rounds: int, root: Path) -> list[Cost]:
    found = []
    for name, more in (("import tir_mlir", ""), ("import all of its names", _ALL)):
        command = [sys.executable, "-c", _IMPORT.format(more=more)]
        took = [
            float(subprocess.run(command, cwd=root, check=True, capture_output=True, text=True).stdout)
            for _ in range(rounds)
        ]
        found.append(Cost("start", name, "ms", Stats.of(took).times(1e3), "<= 700"))
    return found


def _schedule(n: int, rounds: int) -> list[Cost]:
    """Time parsing and every schedule step with its proofs; the first run, with cold caches, is reported separately."""
    parse, names, times, processor = [], [], [], []
    for _ in range(rounds + 1):
        start = time.perf_counter()
        mod = matmul(n, n, n)
        parse.append(time.perf_counter() - start)
        sch, took, names = Schedule(mod), [], []
        busy = time.process_time()
        start = time.perf_counter()
        for step in steps(sch):
            took.append(time.perf_counter() - start)
            names.append(step.call if names else f"{step.call}, registering tmm16 before it")
            start = time.perf_counter()
        times.append(took)
        processor.append(time.process_time() - busy)
    total = [sum(took) for took in times]
    group = f"schedule of the chapter, {len(names)} steps"
    found = [
        Cost("start", "parse the program", "ms", Stats.of(parse[1:]).times(1e3), "<= 15"),
        Cost("start", "parse the program, first time", "ms", Stats.of(parse[:1]).times(1e3)),
    ]
    for i, name in enumerate(names):
        found.append(Cost(group, name, "ms", Stats.of([took[i] for took in times[1:]]).times(1e3)))
    found.append(Cost(group, "all steps", "ms", Stats.of(total[1:]).times(1e3), "<= 60"))
    found.append(Cost(group, "all steps, processor time", "ms", Stats.of(processor[1:]).times(1e3)))
    return [*found, Cost(group, "all steps, first time", "ms", Stats.of(total[:1]).times(1e3))]


def _step() -> Cost:
    """Time random steps of random programs, all primitives, each program for the first time."""
    took = [seconds for _, seconds in random_steps.random_steps()]
    return Cost("one step", "median step over random programs", "ms", Stats.of(took).times(1e3), "<= 2")


def _build(n: int, rounds: int) -> list[Cost]:
    """Time each build stage with an empty cache."""
    sch = _scheduled(n)
    stages: dict[str, list[float]] = {}
    for number in range(rounds + 1):
        with _empty_cache():
            timing = build(sch).timing
        for stage, took in timing.items() if number else ():
            stages.setdefault(stage, []).append(took)
    words = {"link": "link the kernel", "lower": "lower to the llvm dialect", "compile": "compile, in process"}
    found = [Cost("build", words.get(s, s), "ms", Stats.of(took).times(1e3)) for s, took in stages.items()]
    whole = [sum(took) for took in zip(*stages.values(), strict=True)]
    found.append(Cost("build", "all", "ms", Stats.of(whole).times(1e3), "<= 150"))
    tools = []
    for _ in range(3):
        with _empty_cache():
            tools.append(seconds(lambda: build(sch, driver="tools")))
    return [*found, Cost("build", "all, by the command-line tools", "ms", Stats.of(tools).times(1e3))]


@contextmanager
def _empty_cache() -> Iterator[None]:
    before = os.environ.get("TIR_CACHE_DIR")
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        os.environ["TIR_CACHE_DIR"] = folder
        try:
            yield
        finally:
            del os.environ["TIR_CACHE_DIR"]
            if before is not None:
                os.environ["TIR_CACHE_DIR"] = before


def _scheduled(n: int) -> IRModule:
    sch = Schedule(matmul(n, n, n))
    for _ in steps(sch):
        pass
    return sch.mod


def _call() -> Cost:
    @T.prim_func
    def main(x: T.Buffer((1,), "float32"), y: T.Buffer((1,), "float32")):  # type: ignore[valid-type]
        for i in range(1):
            with T.block("y"):
                vi = T.axis.spatial(1, i)
                y[vi] = x[vi]

    call, x, y = build(main)["main"], np.ones(1, np.float32), np.ones(1, np.float32)
    batches = []
    for _ in range(21):
        batches.append(statistics.median(seconds(lambda: call(x, y)) for _ in range(200)))
    return Cost("build", "a call with two arrays", "us", Stats.of(batches).times(1e6))
