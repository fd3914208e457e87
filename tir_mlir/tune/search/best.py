"""The result of a search."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tir_mlir.dialect.diagnostics import TuneError, check_type
from tir_mlir.schedule import Schedule
from tir_mlir.tune.records.record import Record
from tir_mlir.tune.report.search_plots import SearchPlots
from tir_mlir.tune.report.table import table_of
from tir_mlir.tune.search.drawn_search import search_of
from tir_mlir.tune.search.finals import LIBRARY, Finals
from tir_mlir.tune.search.session import TrialResult

if TYPE_CHECKING:
    from optuna import Study


class Best:
    """The best schedule that a search found, and how it was found. Prints as a table.

    decisions: values by name. seconds, library_seconds: of the best schedule and of the library's choice, the fastest
    of interleaved rounds; if the finals were skipped, medians of their trials. finals: seconds by round of all
    finalists. verified: what `sch.verify()` checked; "" if it was not. record: what the database keeps. trials: what
    became of each candidate. study: the optuna study. notes: what did not go as asked. interrupted: by Ctrl-C.
    """

    def __init__(
        self,
        finals: Finals,
        record: Record,
        trials: list[TrialResult],
        study: Study,
        references: dict[str, float] | None = None,
        interrupted: bool = False,
    ):
        check_type(finals, Finals, "Best", "finals", "the finals of a search (tune returns a Best)")
        if finals.winner.schedule is None:
            raise TuneError("the best candidate has no schedule")
        self.schedule: Schedule = finals.winner.schedule
        """The best schedule."""
        self.decisions = dict(finals.winner.decisions)
        self.record, self.study = record, study
        self.trials = sorted(trials, key=lambda trial: trial.number)
        self.finals, self.verified, self.notes = finals.seconds, finals.verified, list(finals.notes)
        self.seconds = finals.best or self._median(finals.winner.number)
        self.library_seconds = finals.library or self._median(0)
        self.references = references or {}
        self.interrupted = interrupted
        self._found = finals

    @property
    def is_library(self) -> bool:
        """Whether it is the library's choice."""
        return self._found.winner.origin == LIBRARY

    @property
    def gain(self) -> float | None:
        """How many times as fast as the library's choice; None if one of them was not measured."""
        return self.library_seconds / self.seconds if self.library_seconds and self.seconds else None

    @property
    def statuses(self) -> list[str]:
        """How each candidate ended."""
        return [t.status for t in self.trials]

    def plot(self) -> SearchPlots:
        """Draw the history of the search, the importance of its decisions, and the time by stage.

        best.plot().save("search.html")
        """
        return SearchPlots({"": search_of(self)})

    def _median(self, number: int | None) -> float | None:
        return next((t.median for t in self.trials if t.number == number), None)

    def __str__(self) -> str:
        return table_of(self)

    __repr__ = __str__
