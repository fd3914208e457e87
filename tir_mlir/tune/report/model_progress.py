"""Live progress of the search over a model: its functions, the time they take in a run, and the trials spent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from tir_mlir.tune.report.progress import LiveProgress, Silent
from tir_mlir.tune.report.table import duration

if TYPE_CHECKING:
    from tir_mlir.tune.report.progress import ProgressTrial

MOST = 12
"""Functions in the live table."""
Row = tuple[str, float, float, int]
"""A function, the seconds of its calls in a run at first and now, and its trials."""


class ModelListener(Protocol):
    """Is notified how the search over a model goes on: see `Listener`, and `functions`."""

    def begin(self, title: str, trials: int) -> None: ...

    def report_trial(self, trial: ProgressTrial, best: ProgressTrial | None) -> None: ...

    def phase(self, text: str) -> None: ...

    def functions(self, current: str, rows: Sequence[Row], trials: int) -> None: ...


class SilentModel(Silent):
    """Shows nothing."""

    def functions(self, current: str, rows: Sequence[Row], trials: int) -> None:
        pass


class ModelProgress(LiveProgress):
    """A bar of all trials, and a table of the functions, redrawn as the search goes on."""

    def __init__(self, console: Console | None = None):
        super().__init__(console)
        self.current, self.trials = "", 1
        self.rows: list[Row] = []
        self.tried = 0

    def begin(self, title: str, trials: int) -> None:
        """A function is searched for the first time."""

    def functions(self, current: str, rows: Sequence[Row], trials: int) -> None:
        """The function that is searched now, and where all of them stand."""
        self.current, self.rows, self.trials = current, list(rows), trials
        self.tried = sum(row[3] for row in rows)

    def report_trial(self, trial: ProgressTrial, best: ProgressTrial | None) -> None:
        """A candidate is done."""
        self.tried += 1

    def render(self) -> Group:
        """The lines of the display."""
        head = f"{self.bar(self.tried, self.trials, 'trials')}, {self.current}: {self.text}"
        return Group(Text(head), self._table())

    def _table(self) -> Table:
        table = Table(box=None, padding=(0, 2, 0, 0), show_edge=False)
        for name in ("function", "first", "now", "gain", "trials"):
            table.add_column(name, justify="left" if name == "function" else "right", no_wrap=True)
        for name, first, best, trials in self.rows[:MOST]:
            style = "bold" if name == self.current else ""
            gain = f"{first / best:.2f}" if best else ""
            table.add_row(name, duration(first), duration(best), gain, str(trials), style=style)
        if len(self.rows) > MOST:
            table.add_row(f"{len(self.rows) - MOST} more", "", "", "", "")
        first, best = sum(row[1] for row in self.rows), sum(row[2] for row in self.rows)
        table.add_row("all", duration(first), duration(best), f"{first / best:.2f}" if best else "", str(self.tried))
        return table
