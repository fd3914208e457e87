"""The results as tables of the terminal, a page and models.json."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from report import short

from .measured import CONTESTANTS, OURS, Measured

_COLORS = {None: "", True: "[green]", False: "[red]"}


def show(rows: Sequence[Measured]) -> None:
    """Print times with the ratio to the best peer, then memory, then what is missing."""
    table = Table(title="milliseconds a call: medians, contestants in turn", title_justify="left")
    for heading in ("model", "", "threads", *CONTESTANTS, "best / ours", "bar (aim)", "error"):
        table.add_column(heading, no_wrap=True, justify="left" if heading in ("model", "") else "right")
    for row in rows:
        ratio = "-" if row.ratio is None else _COLORS[row.met] + f"{row.ratio:.2f}"
        bar = "" if row.line.bar is None else f"{row.line.bar:g} ({row.line.aim:g})"
        worst = row.errors.get(OURS)
        error = "-" if worst is None else f"{worst:.1e}"
        table.add_row(row.line.name, row.line.says, str(row.threads), *_times(row), ratio, bar, error)
    memory = Table(title="MiB of activations at their peak, outputs included", title_justify="left")
    for heading in ("model", "threads", *CONTESTANTS):
        memory.add_column(heading, no_wrap=True, justify="left" if heading == "model" else "right")
    for row in rows:
        memory.add_row(
            row.line.name,
            str(row.threads),
            *[short(row.memory[name] / 2**20) if name in row.memory else "-" for name in CONTESTANTS],
        )
    console = Console()
    console.width = max(console.width, 170)
    console.print(table, highlight=False)
    console.print(memory, highlight=False)
    for line in (*buildings(rows), *reasons(rows)):
        print(line)


def buildings(rows: Sequence[Measured]) -> list[str]:
    """One line for each model that was built in a new process."""
    return [
        f"{row.line.name}: from_torch {imported:.2f} s, build {built:.2f} s, {which}"
        for row in rows
        for which, (imported, built) in row.building.items()
    ]


def reasons(rows: Sequence[Measured]) -> list[str]:
    """One line for each reason why somebody is missing, with the models."""
    found: dict[str, list[str]] = {}
    for row in rows:
        for name, why in row.missing.items():
            found.setdefault(f"{name}: {why}", []).append(row.line.name)
    return [f"missing: {why} [{', '.join(dict.fromkeys(where))}]" for why, where in found.items()]


def page(rows: Sequence[Measured]) -> str:
    """The times as a table of a page."""
    heads = ["Model", "", "Threads", *CONTESTANTS, "best / ours"]
    lines = ["| " + " | ".join(heads) + " |", "|---|---|" + "---:|" * (len(heads) - 2)]
    for row in rows:
        ratio = "" if row.ratio is None else f"{row.ratio:.2f}"
        figures = [each if each != "-" else "" for each in _times(row)]
        lines.append("| " + " | ".join([row.line.name, row.line.says, str(row.threads), *figures, ratio]) + " |")
    return "\n".join(lines) + "\n"


def write(path: Path, rows: Sequence[Measured], machine: Mapping[str, str]) -> Path:
    """Write models.json, and the page beside it; return the path of the page."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"machine": dict(machine), "rows": [row.plain() for row in rows]}, indent=1) + "\n")
    beside = path.with_suffix(".md")
    beside.write_text(page(rows))
    return beside


def _times(row: Measured) -> list[str]:
    return [_milliseconds(row.took[name].median) if name in row.took else "-" for name in CONTESTANTS]


def _milliseconds(value: float) -> str:
    return f"{value:.4f}" if value < 0.1 else short(value)
