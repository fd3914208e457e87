"""What the plots of a search say of its program and its machine."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from tir_mlir.tune.report.search_plots import LIBRARY, Search
from tir_mlir.tune.report.table import duration, summarize_statuses
from tir_mlir.visual.nest import FuncNode, nests

if TYPE_CHECKING:
    from tir_mlir.tune.search.best import Best


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
    yield LIBRARY, duration(best.library_seconds)
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
