"""The results table of docs/performance.md; conv2d as its mean only."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from contest import OURS
from report import PEERS, short
from rows import Row


def write(path: Path, rows: Sequence[Row]) -> None:
    path.write_text(table(rows))


def table(rows: Sequence[Row]) -> str:
    """Return the rates of all contestants with at least one result; ours also as a share of the roof."""
    names = [name for name in PEERS if any(name in row.peers for row in rows)]
    heads = ["What", "Size", "Threads", OURS, *names, "roof", "ours / roof", "unit"]
    lines = ["| " + " | ".join(heads) + " |", "|---|---|" + "---:|" * (len(heads) - 3) + "---|"]
    for row in rows:
        if row.group:
            continue
        figures = [_figure(row.ours), *(_figure(row.peers.get(name)) for name in names), _figure(row.peak)]
        share = "" if row.fraction is None else f"{row.fraction:.0%}"
        shape = row.shape.replace("x", " x ")
        lines.append("| " + " | ".join([row.work, shape, str(row.threads), *figures, share, row.unit]) + " |")
    return "\n".join(lines) + "\n"


def _figure(value: float | None) -> str:
    return "" if value is None else short(value)
