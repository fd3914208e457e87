"""Time spent in each stage of a build."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from html import escape

STAGES = {
    "graph": "transforms of the graph, its functions and their schedules",
    "memory": "planning of the memory of the graph, and its one function",
    "weights": "computing and placing the weights",
    "schedule": "finding the best record of the program, or the library's schedule",
    "key": "the cache key of the program, and the lookup",
    "link": "resolving and linking kernels",
    "lower": "TensorIR to the llvm dialect",
    "translate": "the llvm dialect to LLVM IR",
    "compile": "LLVM optimization and code generation",
    "store": "storing the code in the cache",
    "load": "loading the code",
}


class Timing(dict[str, float]):
    """Wall seconds by stage, in order; prints as a table.

    cpu: CPU seconds of the process by stage, which other programs on the machine do not lengthen. cached: cache hit.
    passes: wall seconds by lowering pass.
    """

    def __init__(self) -> None:
        super().__init__()
        self.cached = False
        self.cpu: dict[str, float] = {}
        self.passes: dict[str, float] = {}

    @property
    def total(self) -> float:
        """Seconds of all stages."""
        return sum(self.values())

    @contextmanager
    def clock(self, stage: str) -> Iterator[None]:
        """Context whose duration, of wall and of CPU time, is added to a stage."""
        start, cpu_start = time.perf_counter(), time.process_time()
        try:
            yield
        finally:
            self[stage] = self.get(stage, 0.0) + time.perf_counter() - start
            self.cpu[stage] = self.cpu.get(stage, 0.0) + time.process_time() - cpu_start

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
        return "\n".join(lines)
