"""The results as terminal tables."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from rich.console import Console
from rich.table import Table

from compiling import Cost
from contest import OURS
from roofline import Roofs
from rows import Row

PEERS = {
    "numpy": "tir-parallel", "mkl": "tir-thread", "torch": "tir-vectorized", "tvm": "tir-unrolled",
    "llama.cpp": "tir-new-text", "constant": "tir-serial",
}  # fmt: skip
"""The columns of other contestants, with the style of their bars in the plot."""
_COLORS = {None: "", True: "[green]", False: "[red]"}


def show(rows: Sequence[Row], peers: Collection[str] = tuple(PEERS)) -> None:
    """Print rates with their share of the roof; a missed goal is red."""
    table = Table(
        title="medians, contestants one after the other; in brackets the share of the roof", title_justify="left"
    )
    table.add_column("", no_wrap=True)
    for heading in ("threads", OURS, *peers, "roof"):
        table.add_column(heading, justify="right", no_wrap=True)
    for heading in ("unit", "goal"):
        table.add_column(heading, no_wrap=True)
    work = ""
    for row in rows:
        if row.work != work:
            work = row.work
            table.add_section()
            table.add_row(f"[bold]{work}[/bold]")
        figures = [cell(figure, row.peak) for figure in (row.ours, *(row.peers.get(name) for name in peers))]
        goal = _COLORS[row.met] + ", ".join(map(str, row.goals))
        name = f"  {row.shape}{' (by hand)' if row.origin == 'by hand' else ''}"
        roof = "" if row.peak is None else short(row.peak)
        table.add_row(name, str(row.threads), *figures, roof, row.unit, goal)
    _print(table)
    for line in (*beaten(rows), *reasons(rows)):
        print(line)


def cell(figure: float | None, roof: float | None) -> str:
    """Format a rate and its share of the roof."""
    if figure is None:
        return "-"
    return short(figure) + (f" ({figure / roof:3.0%})" if roof else "")


def beaten(rows: Sequence[Row]) -> list[str]:
    """Return one line per row in which a peer is faster: by whom, and how much."""
    return [
        f"beaten: {row.work} {row.shape}, threads {row.threads}: "
        + ", ".join(f"{name} {ratio:.2f}x" for name, ratio in row.beaten_by.items())
        for row in rows
        if row.beaten_by
    ]


def reasons(rows: Sequence[Row]) -> list[str]:
    """Return one line per reason for a missing contestant, with the first work and the number of others."""
    found: dict[str, list[str]] = {}
    for row in rows:
        for name, why in row.missing.items():
            found.setdefault(f"{name}: {why}", []).append(f"{row.work} {row.shape}")
    return [f"{why} [{where[0]}{f' and {len(where) - 1} more' * (len(where) > 1)}]" for why, where in found.items()]


def show_roofs(roofs: Roofs) -> None:
    """Print the measured roofs by thread count."""
    for (dtype, threads), rate in roofs.peaks.items():
        words = f"{threads} thread{'s' * (threads != 1)}"
        print(f"peak {dtype:8} {words:10} {short(rate / 1e9):>6} billion operations/s")
    for threads, points in roofs.curves.items():
        line = ", ".join(f"{size_name(p.size)} {short(p.triad / 1e9)} {short(p.reads / 1e9)}" for p in points)
        print(f"memory on {threads} thread{'s' * (threads != 1)}, GB/s of the triad and of reads only: {line}")


def show_costs(costs: Sequence[Cost]) -> None:
    """Print the costs of tir_mlir itself; a missed goal is red."""
    table = Table(title="costs of tir_mlir itself", title_justify="left")
    table.add_column("")
    for heading in ("median", "least", "greatest"):
        table.add_column(heading, justify="right")
    for heading in ("unit", "goal"):
        table.add_column(heading)
    group = ""
    for cost in costs:
        if cost.group != group:
            group = cost.group
            table.add_section()
            table.add_row(f"[bold]{group}[/bold]")
        numbers = [short(v) for v in (cost.stats.median, cost.stats.least, cost.stats.greatest)]
        color = _COLORS[cost.met]
        table.add_row(f"  {cost.name}", color + numbers[0], *numbers[1:], cost.unit, color + (cost.goal or ""))
    _print(table)


def size_name(size: int) -> str:
    return f"{size >> 20} MB" if size >= 1 << 20 else f"{size >> 10} KB"


def short(value: float) -> str:
    digits = 0 if value >= 100 else 1 if value >= 10 else 2
    return f"{value:.{digits}f}"


def _print(table: Table) -> None:
    console = Console()
    console.width = max(console.width, 170)
    console.print(table, highlight=False)
