"""Live progress of a search: a bar and the table of the best so far, in a terminal."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Protocol, TypeVar

from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from tir_mlir.runtime.progress import LiveDisplay, follow_build
from tir_mlir.tune.report.table import duration

TABLE_ROWS = 5
"""Candidates in the live table."""


class ProgressTrial(Protocol):
    """What is shown of a candidate, see `TrialResult`."""

    @property
    def number(self) -> int: ...

    @property
    def origin(self) -> str: ...

    @property
    def decisions(self) -> dict[str, int]: ...

    @property
    def status(self) -> str: ...

    @property
    def reason(self) -> str: ...

    @property
    def median(self) -> float | None: ...

    @property
    def ok(self) -> bool: ...


class Silent:
    """Shows nothing."""

    def begin(self, title: str, trials: int) -> None:
        pass

    def report_trial(self, trial: ProgressTrial, best: ProgressTrial | None) -> None:
        pass

    def phase(self, text: str) -> None:
        pass


_Entered = TypeVar("_Entered", bound="LiveProgress")


class LiveProgress(LiveDisplay):
    """A display of a search, drawn while it is entered."""

    def __init__(self, console: Console | None = None):
        self.console = console or Console(stderr=True)
        super().__init__(self.console)
        self.text = ""

    def __enter__(self: _Entered) -> _Entered:
        self.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()

    def phase(self, text: str) -> None:
        """What the search does now."""
        self.text = text


class Progress(LiveProgress):
    """A bar, the counts of how candidates ended, and the fastest ones, redrawn as the search goes on."""

    def __init__(self, console: Console | None = None):
        super().__init__(console)
        self.title, self.trials = "", 0
        self.done: list[ProgressTrial] = []

    def begin(self, title: str, trials: int) -> None:
        """Show another search: of the function `title`."""
        self.title, self.trials, self.done, self._begun = title, trials, [], time.monotonic()

    def report_trial(self, trial: ProgressTrial, best: ProgressTrial | None) -> None:
        """A candidate is done."""
        self.done.append(trial)

    def render(self) -> Group:
        """The lines of the display."""
        head = f"{self.title} {self.bar(len(self.done), self.trials, 'trials')}, {self.text}"
        ends = Counter(t.status for t in self.done)
        counts = ", ".join(f"{n} {status}" for status, n in ends.most_common())
        return Group(Text(head), Text(counts), self._table())

    def _table(self) -> Table:
        table = Table(box=None, padding=(0, 2, 0, 0), show_edge=False)
        for name in ("trial", "from", "time", "decisions"):
            table.add_column(
                name, justify="right" if name in ("trial", "time") else "left", no_wrap=name != "decisions"
            )
        fastest = sorted((t for t in self.done if t.ok), key=lambda t: t.median or 0.0)
        for trial in fastest[:TABLE_ROWS]:
            decided = " ".join(f"{name}={value}" for name, value in trial.decisions.items())
            table.add_row(str(trial.number), trial.origin, duration(trial.median), decided)
        return table


@contextmanager
def listener_of(
    progress: Any, silent: Callable[[], Any] = Silent, live: Callable[[], AbstractContextManager[Any]] = Progress
) -> Iterator[Any]:
    """What shows progress: True for a live table, False for nothing, None for one in a terminal only, or an object."""
    if progress is None:
        progress = sys.stderr is not None and sys.stderr.isatty()
    if progress is False:
        yield silent()
    elif progress is True:
        with live() as listener, follow_build("search", shown=False):
            yield listener
    else:
        yield progress
