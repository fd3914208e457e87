"""The result of a search."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from tir_mlir.dialect.diagnostics import TuneError, check_type
from tir_mlir.schedule import Schedule
from tir_mlir.tune.records.record import Record
from tir_mlir.tune.report.search_plots import LIBRARY as LIBRARY_CHOICE
from tir_mlir.tune.report.search_plots import Search, SearchPlots
from tir_mlir.tune.report.table import duration, summarize_statuses, table_of
from tir_mlir.tune.search.finals import LIBRARY, Finals
from tir_mlir.tune.search.session import TrialResult
from tir_mlir.visual.nest import FuncNode, nests

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
    def is_predicted(self) -> bool:
        """Whether its times are predictions for a GPU or a CPU that the machine does not have."""
        return any(t.machine.startswith("predicted") for t in self.trials)

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


# What the plots of a search say of its program and its machine.


def search_of(best: Best) -> Search:
    """The search behind a result."""
    functions = nests(best.schedule.executor.original)
    names = ", ".join(func.name for func in functions)
    return Search(names, best.trials, best.library_seconds, tuple(_facts(best, functions)))


def _facts(best: Best, functions: Iterable[FuncNode]) -> Iterator[tuple[str, str]]:
    record = best.record
    yield "program", "; ".join(_program(functions))
    yield "machine", record.machine
    yield "target", record.target
    yield "versions", ", ".join(f"{name} {version}" for name, version in record.versions.items())
    yield LIBRARY_CHOICE, duration(best.library_seconds)
    gain = "" if best.gain is None else f", {best.gain:.3g} times as fast"
    yield "best found", "the library's schedule" if best.is_library else f"{duration(best.seconds)}{gain}"
    for name, seconds in best.references.items():
        yield name, duration(seconds)
    if best.decisions:
        yield "decisions", ", ".join(f"{name} = {value}" for name, value in best.decisions.items())
    yield "candidates", summarize_statuses(best.statuses)
    yield "verified", best.verified or "no"
    for note in best.notes:
        yield "note", note


def _program(functions: Iterable[FuncNode]) -> Iterator[str]:
    for func in functions:
        yield f"{func.name}({', '.join(map(str, func.params))})"
