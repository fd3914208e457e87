"""Time a program after each primitive of its library schedule, from the unscheduled program on.

The rungs are taken from the trace of `tir_mlir.schedules`.
"""

from __future__ import annotations

import inspect
import json
import re
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

import tensor_programs
from contest import check
from measure import Stats, seconds
from report import short
from threads import set_threads
from tir_mlir import Schedule, schedules
from tir_mlir.schedule.trace.python_text import python_lines
from works.entering import compiled

CALLS = 7
BUDGET = 2.0  # seconds per rung after its first run


@dataclass(frozen=True)
class Rung:
    """A step as a line of Python, and the GFLOP/s of the program after it."""

    step: str
    rate: float | None
    why: str = ""


def climb(n: int, threads: int, shared: bool = False) -> Iterator[Rung]:
    """Time each rung of A @ B.T, n x n x n in float32; each result is first compared with NumPy's."""
    set_threads(threads)
    rng = np.random.default_rng(0)
    a, b = (rng.uniform(-1, 1, (n, n)).astype(np.float32) for _ in range(2))
    expected = a @ b.T
    for step, sch in stages(n, threads):
        try:
            ours = compiled(sch, [a, b], np.empty_like(expected))
            check(step, ours, expected)
        except Exception as error:  # a stage on the way may be more than the lowering takes
            yield Rung(step, None, f"{type(error).__name__}: {error}".splitlines()[0])
            continue
        clock = time.thread_time if shared and threads == 1 else None
        took = [seconds(ours.call, clock=clock)]
        while len(took) < CALLS and sum(took) < BUDGET:
            took.append(seconds(ours.call, clock=clock))
        yield Rung(step, Stats.of(took).rate(2e-9 * n**3).median)


def stages(n: int, threads: int) -> Iterator[tuple[str, Schedule]]:
    """Yield the unscheduled program, then the schedule after each step that changes it."""
    program = tensor_programs.product(n, n, n, trans_b=True)
    whole = Schedule(program)
    schedules.gemm(whole, "C", threads=threads)
    sch = Schedule(program)
    yield "as written", sch
    names = {"sch": sch}
    for line in python_lines(whole.trace.insts, whole.trace.decisions):
        looks = re.search(r"\bsch\.get_", line) is not None
        shown = "" if looks else _readable(line.strip(), sch, names)
        exec(line.strip(), names)
        if not looks:
            yield shown, sch


def _readable(line: str, sch: Schedule, names: dict[str, Any]) -> str:
    """Format a trace line with the names of loops and blocks, without results and default arguments."""
    call = line[line.index("sch.") + len("sch.") :]
    method = getattr(Schedule, call[: call.index("(")])
    for parameter in inspect.signature(method).parameters.values():
        if parameter.default is not inspect.Parameter.empty:
            call = call.replace(f", {parameter.name}={parameter.default!r}", "")
    return re.sub(r"\b[lb]\d+\b", lambda found: sch.get(names[found[0]]).name, call)


def write(path: Path, rungs: list[Rung]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps([asdict(rung) for rung in rungs], indent=1) + "\n")
    lines = [f"| `{rung.step}` | {'' if rung.rate is None else short(rung.rate)} |" for rung in rungs]
    path.with_suffix(".md").write_text("\n".join(["| Step | GFLOP/s |", "|---|---:|", *lines]) + "\n")
