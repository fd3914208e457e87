"""The curves over the steps of a schedule: the time of a run, and what is loaded of each buffer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from mlir import ir

from tir_mlir.dialect.computation.float_operations import float_operations
from tir_mlir.dialect.ir import funcs
from tir_mlir.visual import charts
from tir_mlir.visual.page_step import PageStep
from tir_mlir.visual.svg import Picture

WIDTHS = 340.0, 720.0
"""Of a chart on a phone, and elsewhere."""
MOST_CURVES = 8
_UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns"))


@dataclass(frozen=True)
class StepChart:
    """A chart in all widths."""

    title: str
    note: str
    pictures: list[Picture]


def points(steps: Sequence[PageStep]) -> charts.ChartPoints:
    """The steps along the horizontal axis; refused ones have no number."""
    numbers = ["" if step.is_refused else str(step.number) for step in steps]
    texts = [f"{n}. {s.name}" if n else s.name for n, s in zip(numbers, steps, strict=True)]
    return charts.ChartPoints(
        "step", numbers, ["as written" if s.kind == "start" else t for s, t in zip(steps, texts, strict=False)]
    )


def loads(across: charts.ChartPoints, tables: Sequence[Sequence[dict[str, Any]]]) -> StepChart | None:
    """The elements loaded from each buffer, where their number is known; None if it is nowhere."""
    several = len({row["func"] for table in tables for row in table}) > 1
    by_name: dict[str, list[float | None]] = {}
    for n, table in enumerate(tables):
        for row in table:
            name = f"{row['func']}: {row['buffer']}" if several else row["buffer"]
            by_name.setdefault(name, [None] * len(tables))[n] = row["loaded"] or None
    loaded = {name: values for name, values in by_name.items() if any(values)}
    if not loaded:
        return None
    most = sorted(loaded, key=lambda name: -max(v for v in loaded[name] if v))
    names = [name for name in loaded if name in most[:MOST_CURVES]]
    series = [charts.Series(name, loaded[name]) for name in names]
    more_count = len(loaded) - len(names)
    note = f"{more_count} more buffers are not drawn." if more_count else ""
    title, axis = "Elements loaded from each buffer", charts.ChartAxis("elements", short, logarithmic=True)
    return StepChart(title, note, [charts.curves(title, series, across, axis, width) for width in WIDTHS])


def times(
    across: charts.ChartPoints, steps: Sequence[PageStep], start: ir.Module
) -> tuple[list[dict[str, str]], StepChart | None]:
    """What to say of each step, and the curve: GFLOP/s if the program has float operations, else seconds."""
    given = dict(steps[0].measured.sizes) if steps[0].measured else {}
    flops = [float_operations(func, given) for func in funcs(start)]
    total = sum(f for f in flops if f) if all(f is not None for f in flops) else 0
    seconds = [step.measured.seconds if step.measured else None for step in steps]
    texts: list[dict[str, str]] = []
    previous: float | None = None
    for step, took in zip(steps, seconds, strict=True):
        texts.append(_time_texts(step, took, total, previous))
        previous = took if took is not None else previous
    if not any(seconds):
        return texts, None
    if total:
        title, axis = "GFLOP/s after each step", charts.ChartAxis("GFLOP/s", lambda v: f"{v:.3g}", logarithmic=True)
        values = [None if s is None else total / s / 1e9 for s in seconds]
    else:
        title, axis = "Time of a run after each step", charts.ChartAxis("time", duration, logarithmic=True)
        values = list(seconds)
    sizes = ", ".join(f"{name} = {value}" for name, value in given.items())
    skipped = [step.number for step, took in zip(steps, seconds, strict=True) if took is None]
    note = f"Measured at {sizes}. " if sizes else ""
    note += f"Cannot run: after step {', '.join(map(str, dict.fromkeys(skipped)))}." if skipped else ""
    unmoved = [v if step.kind in ("start", "step") else None for step, v in zip(steps, values, strict=True)]
    series = [charts.Series("", unmoved)]
    return texts, StepChart(title, note, [charts.curves(title, series, across, axis, width) for width in WIDTHS])


def _time_texts(step: PageStep, took: float | None, flops: int, previous: float | None) -> dict[str, str]:
    """The time of a step in words: short, and with what it is to the step before."""
    if took is None or step.kind not in ("start", "step"):
        return {"short": "", "long": "", "why": step.measured.why if step.measured else ""}
    rate = f"{flops / took / 1e9:.3g} GFLOP/s" if flops else ""
    long = f"{duration(took)} a run" + (f", {rate}" if rate else "")
    if previous is not None and step.kind == "step":
        gain = previous / took
        how = f"{gain:.3g} times as fast" if gain >= 1 else f"takes {1 / gain:.3g} times as long"
        long += f": {how} as before"
    return {"short": rate.removesuffix(" GFLOP/s") if rate else duration(took), "long": long, "why": ""}


def duration(seconds: float) -> str:
    """`1.25 ms`."""
    scale, unit = next(((s, u) for s, u in _UNITS if seconds >= s), _UNITS[-1])
    return f"{seconds / scale:.3g} {unit}"


def short(value: float) -> str:
    """`16.8 M`: a number of elements."""
    for scale, letter in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= scale:
            return f"{value / scale:.3g} {letter}"
    return f"{value:.3g}"
