"""Time spent in each stage of a build."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from html import escape

from tir_mlir.runtime import progress

STAGES = {
    "graph": "transforms of the graph, its functions and their schedules",
    "memory": "planning of the memory of the graph, and its one function",
    "weights": "computing and placing the weights",
    "schedule": "finding the best record of the program, or the library's schedule",
    "key": "the cache key of the program, and the lookup",
    "link": "resolving and linking kernels",
    "functions": "the code of the functions that the program calls, compiled or from the cache",
    "lower": "TensorIR to the llvm dialect",
    "translate": "the llvm dialect to LLVM IR",
    "compile": "LLVM optimization and code generation",
    "store": "storing the code in the cache",
    "load": "loading the code",
}


Clock = Callable[[str], AbstractContextManager[None]]
"""Counts the seconds of a context for a stage, as `Timing.clock` does."""


class Timing(dict[str, float]):
    """Wall seconds by stage, in order; prints as a table.

    cpu: CPU seconds of the process and its workers by stage, which other programs on the machine do not lengthen.
    cached: cache hit. passes: wall seconds by lowering pass. functions: what was done with each function of a graph,
    the slowest first.
    """

    def __init__(self) -> None:
        super().__init__()
        self.cached = False
        self.cpu: dict[str, float] = {}
        self.passes: dict[str, float] = {}
        self._functions: list[progress.Done] = []

    @property
    def functions(self) -> list[progress.Done]:
        """What was done with each function of a graph, the slowest first."""
        return sorted(self._functions, key=lambda done: -done.seconds)

    def follow(self, build: progress.Build) -> None:
        """Tell of the functions of this build."""
        self._functions = build.functions

    @property
    def total(self) -> float:
        """Seconds of all stages."""
        return sum(self.values())

    @contextmanager
    def clock(self, stage: str) -> Iterator[None]:
        """Context whose duration, of wall and of CPU time, is added to a stage."""
        progress.enter_stage(stage)
        start, cpu_start = time.perf_counter(), _cpu()
        try:
            yield
        finally:
            took, cpu = time.perf_counter() - start, _cpu() - cpu_start
            self[stage] = self.get(stage, 0.0) + took
            self.cpu[stage] = self.cpu.get(stage, 0.0) + cpu
            progress.leave_stage(stage, took, cpu)

    def _repr_html_(self) -> str:
        """A table with a bar a stage."""
        cell = '<td style="text-align:{}">{}</td>'
        bar = '<div style="width:{:.0f}px;height:.7em;background:#1d5fd0"></div>'
        rows = []
        for stage, took in self.items():
            drawn = bar.format(160 * took / max(self.total, 1e-9))
            cells = (
                ("left", escape(stage)),
                ("right", f"{1e3 * took:.2f}"),
                ("left", drawn),
                ("left", STAGES.get(stage, "")),
            )
            rows.append("<tr>" + "".join(cell.format(*column) for column in cells) + "</tr>")
        head = "<tr><th>stage</th><th>ms</th><th></th><th></th></tr>"
        title = escape(repr(self).splitlines()[0])
        return f"<table><caption>{title}</caption>{head}{''.join(rows)}</table>"

    def __repr__(self) -> str:
        source = "code from the cache" if self.cached else "compiled"
        lines = [f"build: {1e3 * self.total:.2f} ms, {source}"]
        lines += [
            f"  {stage:10}{1e3 * took:9.2f} ms {1e3 * self.cpu.get(stage, 0.0):9.2f} ms CPU  {STAGES.get(stage, '')}"
            for stage, took in self.items()
        ]
        slow = sorted(self.passes.items(), key=lambda entry: -entry[1])[:5]
        lines += [f"    {1e3 * took:17.2f} ms  {name}" for name, took in slow]
        worked = [done for done in self.functions if not done.cached]
        if self._functions:
            cached = len(self._functions) - len(worked)
            lines.append(f"  {len(self._functions)} steps of functions, {cached} from the cache")
        lines += [f"    {1e3 * done.seconds:17.2f} ms CPU  {done.label} ({done.kind})" for done in worked[:5]]
        return "\n".join(lines)


def _cpu() -> float:
    """CPU seconds of this process, and of the workers that computed for it."""
    return time.process_time() + progress.worker_time.seconds
