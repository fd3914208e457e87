"""Bar charts of measured runs: one bar a run, to scale, with its figure."""

from __future__ import annotations

import math
from collections.abc import Iterable

from tir_mlir.dialect.diagnostics import check_type, short_repr
from tir_mlir.visual import svg
from tir_mlir.visual.svg import Picture

ROW, GAP, LONGEST, PAD, HEAD = 20.0, 8.0, 260.0, 12.0, 28.0
"""Height of a bar, space between two, length of the longest, margin, and height of the title, in px."""


def bars(rows: Iterable[tuple[str, float]], unit: str, title: str, note: str = "") -> Picture:
    """Draw measured runs as horizontal bars, in the given order.

    `rows`: a name and a positive number for each. `unit` stands behind each number (`ms`, `GFLOP/s`); `note` is a line
    below, such as the machine.

        bars([("as written", 3.1), ("tiled", 0.21)], "ms", "A product of 256 x 256")

    Errors: ValueError without rows, and for numbers that are not positive.
    """
    wanted = "a list of (name, number)"
    check_type(rows, Iterable, "bars", "rows", wanted)
    pairs = list(rows)
    for row in pairs:
        check_type(row, (tuple, list), "bars", "rows", wanted)
        if len(row) != 2 or isinstance(row[1], str):
            raise ValueError(f"bars: rows are {wanted}, not {short_repr(row)}")
    runs = [(name, float(value)) for name, value in pairs]
    if not runs:
        raise ValueError("bars: there are no rows to draw")
    for name, value in runs:
        if not (math.isfinite(value) and value > 0):
            raise ValueError(f"bars: {name} must be a positive number, not {value!r}")
    left = PAD + max(svg.width_of(name) for name, _ in runs) + 10
    scale = LONGEST / max(value for _, value in runs)
    figures = [f"{_short(value)} {unit}".rstrip() for _, value in runs]
    parts = [svg.text(PAD, PAD + 8, title, "tir-ink tir-strong")]
    y = PAD + HEAD
    for (name, value), figure in zip(runs, figures, strict=True):
        parts.append(svg.text(left - 10, y + ROW - 6, name, "tir-ink", "end"))
        parts.append(svg.rectangle(left, y, max(1.0, scale * value), ROW, "tir-parallel", 2))
        parts.append(svg.text(left + scale * value + 8, y + ROW - 6, figure, "tir-muted"))
        y += ROW + GAP
    if note:
        parts.append(svg.text(PAD, y + 10, note, "tir-muted tir-small"))
        y += 18
    ends = [left + scale * v + 8 + svg.width_of(f) for (_, v), f in zip(runs, figures, strict=True)]
    width = max(*ends, PAD + svg.width_of(title), PAD + svg.width_of(note, small=True)) + PAD
    description = "; ".join(f"{name}: {figure}" for (name, _), figure in zip(runs, figures, strict=True))
    return Picture("".join(parts), width, y + PAD - GAP, title, description)


def _short(value: float) -> str:
    """Three digits: 0.0123, 1.23, 12.3, 123, 1,234."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
