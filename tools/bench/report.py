"""The rows of the result, as a table and as JSON."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from measure import Stats


@dataclass(frozen=True)
class Row:
    """One number. `goal` is a bound such as "<= 80": None where there is none."""

    group: str
    name: str
    unit: str
    stats: Stats
    goal: str | None = None

    @property
    def met(self) -> bool | None:
        """Whether the median keeps to the goal."""
        if self.goal is None:
            return None
        sign, bound = self.goal.split()
        return self.stats.median <= float(bound) if sign == "<=" else self.stats.median >= float(bound)


def show(title: str, rows: list[Row]) -> None:
    """The table; a goal that is missed is red."""
    table = Table(title=title, title_justify="left")
    table.add_column("")
    for heading in ("median", "least", "greatest"):
        table.add_column(heading, justify="right")
    for heading in ("unit", "goal"):
        table.add_column(heading)
    group = ""
    for row in rows:
        if row.group != group:
            group = row.group
            table.add_section()
            table.add_row(f"[bold]{group}[/bold]")
        colour = {None: "", True: "[green]", False: "[red]"}[row.met]
        numbers = [_short(v) for v in (row.stats.median, row.stats.least, row.stats.greatest)]
        table.add_row(f"  {row.name}", colour + numbers[0], *numbers[1:], row.unit, colour + (row.goal or ""))
    console = Console()
    console.width = max(console.width, 100)
    console.print(table, highlight=False)


def write(path: Path, machine: dict[str, str], rows: list[Row]) -> None:
    """The same numbers for programs."""
    found = [{**asdict(row), **asdict(row.stats), "met": row.met} for row in rows]
    for row in found:
        del row["stats"]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"machine": machine, "rows": found}, indent=1) + "\n")


def _short(value: float) -> str:
    digits = 0 if value >= 100 else 1 if value >= 10 else 2
    return f"{value:.{digits}f}"
