"""What the project itself costs: import, parse, the steps of a schedule, lowering, machine code, a call."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from measure import Stats, seconds
from report import Row
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
context = sys.modules.get("tir_mlir.dialect.context")
assert context is None or context._context is None, "importing made an MLIR context"
print(took)
"""
_ALL = "; from tir_mlir import Schedule, TensorIntrin, build; from tir_mlir.script import ir, tir"


def rows(n: int, rounds: int, root: Path) -> list[Row]:
    """All of it, in the order a program goes through it."""
    return [*_imports(rounds, root), *_schedule(n, rounds), *_build(n, rounds), _call()]


def _imports(rounds: int, root: Path) -> list[Row]:
    found = []
    for name, more in (("import tir_mlir", ""), ("import all of its names", _ALL)):
        command = [sys.executable, "-c", _IMPORT.format(more=more)]
        took = [
            float(subprocess.run(command, cwd=root, check=True, capture_output=True, text=True).stdout)
            for _ in range(rounds)
        ]
        found.append(Row("start", name, "ms", Stats.of(took).times(1e3), "<= 700"))
    return found


def _schedule(n: int, rounds: int) -> list[Row]:
    """Parsing, and every step with its proofs; the first time apart, when caches are cold."""
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
        Row("start", "parse the program", "ms", Stats.of(parse[1:]).times(1e3), "<= 15"),
        Row("start", "parse the program, first time", "ms", Stats.of(parse[:1]).times(1e3)),
    ]
    for i, name in enumerate(names):
        found.append(Row(group, name, "ms", Stats.of([took[i] for took in times[1:]]).times(1e3)))
    found.append(Row(group, "all steps", "ms", Stats.of(total[1:]).times(1e3), "<= 80"))
    found.append(Row(group, "all steps, processor time", "ms", Stats.of(processor[1:]).times(1e3)))
    return [*found, Row(group, "all steps, first time", "ms", Stats.of(total[:1]).times(1e3))]


def _build(n: int, rounds: int) -> list[Row]:
    sch = _scheduled(n)
    build(sch)
    stages: dict[str, list[float]] = {}
    for _ in range(rounds):
        for stage, took in build(sch).timing.items():
            stages.setdefault(stage, []).append(took)
    words = {"link": "link the kernel", "lower": "lower to the llvm dialect", "compile": "compile, in process"}
    found = [Row("build", words[s], "ms", Stats.of(took).times(1e3)) for s, took in stages.items()]
    whole = [sum(took) for took in zip(*stages.values(), strict=True)]
    found.append(Row("build", "all", "ms", Stats.of(whole).times(1e3), "<= 300"))
    tools = [seconds(lambda: build(sch, driver="tools")) for _ in range(3)]
    return [*found, Row("build", "all, by the command-line tools", "ms", Stats.of(tools).times(1e3))]


def _scheduled(n: int) -> IRModule:
    sch = Schedule(matmul(n, n, n))
    for _ in steps(sch):
        pass
    return sch.mod


def _call() -> Row:
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
    return Row("build", "a call with two arrays", "us", Stats.of(batches).times(1e6))
