"""The page of a search: its history, which decisions matter, where the time went."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from tir_mlir.tune.report.table import duration, summarize_statuses
from tir_mlir.visual import charts
from tir_mlir.visual.document import document, read
from tir_mlir.visual.svg import Picture, combine_pictures

if TYPE_CHECKING:
    from typing import TypeAlias

    from optuna import Study

WIDTHS = 340.0, 720.0
"""Of a chart on a phone, and elsewhere."""
MOST_COLUMNS = 60
"""Columns of a chart: more candidates share one."""
LIBRARY = "library's schedule"
STAGES = {
    "schedule": "applying the schedule",
    "build.parse": "reading the program",
    "build.key": "looking into the code cache",
    "build.link": "linking kernels",
    "build.lower": "lowering to LLVM",
    "build.translate": "translating to LLVM IR",
    "build.compile": "generating machine code",
    "build.load": "loading the code",
    "build": "building, without success",
    "measure.arguments": "making arguments",
    "measure.first": "the first run",
    "measure.check": "comparing the result",
    "measure.runs": "timed runs",
}

Plots: TypeAlias = "Picture | dict[str, Picture | None] | None"
"""The picture of a search, or of several by function."""


@dataclass(frozen=True)
class Search:
    """A search that is drawn.

    name: of the function.
    library: seconds of the library's schedule.
    facts: name and value, of the program and the machine.
    """

    name: str
    trials: Sequence[StudyTrial]
    library: float | None = None
    facts: Sequence[tuple[str, str]] = ()


@dataclass(frozen=True)
class Chart:
    """A chart in all widths, or a sentence that says why there is none."""

    title: str
    pictures: Sequence[Picture] = ()
    note: str = ""


class SearchPlots:
    """The plots of a search. Draws itself in a notebook.

        plots = best.plot()
        plots.save("search.html")
        plots.history.save("history.svg")

    history: the time of each candidate, the best so far, the library's schedule. importance: how much each decision
    matters. stages: CPU seconds by candidate and stage. All are pictures, None where there is nothing to draw, and for
    a module dictionaries of these by function.
    """

    def __init__(self, searches: Mapping[str, Search]):
        self.charts = {title: charts_of(search) for title, search in searches.items()}
        """By function ("" if there is one only), then by name: history, importance, stages."""
        self._searches = dict(searches)

    @property
    def history(self) -> Plots:
        return self._all("history")

    @property
    def importance(self) -> Plots:
        return self._all("importance")

    @property
    def stages(self) -> Plots:
        return self._all("stages")

    def _all(self, name: str) -> Plots:
        wide = {title: next(reversed(by_name[name].pictures), None) for title, by_name in self.charts.items()}
        return wide if len(wide) > 1 else next(iter(wide.values()))

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write a page with the plots, which needs no network. Returns its path. Raises ValueError if the name does
        not end in .html."""
        target = Path(path)
        if target.suffix.lower() != ".html":
            raise ValueError(f"plots are saved as a page: use a file name that ends in .html, not {target.name!r}")
        title = f"Search of {', '.join(search.name for search in self._searches.values())}"
        sections = "".join(self._section(title) for title in self.charts)
        body = f'<main class="frame search" id="search" tabindex="-1">{sections}</main>'
        target.write_text(document(title, body, "search", read("search.css")), encoding="utf-8")
        return target

    def _section(self, title: str) -> str:
        search = self._searches[title]
        heading = f"<h2>{escape(title)}</h2>" if len(self.charts) > 1 else ""
        facts = "".join(f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>" for name, value in search.facts)
        drawn = "".join(_chart(chart) for chart in self.charts[title].values())
        return f'<section class="one">{heading}<dl>{facts}</dl>{drawn}{_failures(search.trials)}</section>'

    def _repr_html_(self) -> str:
        pictures = [p for by_name in self.charts.values() for chart in by_name.values() for p in chart.pictures[-1:]]
        return combine_pictures(pictures, "the plots of a search", columns=1).svg if pictures else escape(repr(self))

    def __repr__(self) -> str:
        return "the plots of a search: save them as a page with .save('search.html')"


def charts_of(search: Search) -> dict[str, Chart]:
    """The charts of the search of one function, by name."""
    trials = sorted(search.trials, key=lambda trial: trial.number)
    return {"history": _history(trials, search.library), "importance": _importance(trials), "stages": _stages(trials)}


def _history(trials: Sequence[StudyTrial], library: float | None) -> Chart:
    title = "Time of a run, by candidate"
    times = [trial.median for trial in trials]
    if not any(times):
        return Chart(title, note="No candidate was measured.")
    best: list[float | None] = []
    for took in times:
        known = [t for t in (took, best[-1] if best else None) if t is not None]
        best.append(min(known, default=None))
    series = [charts.Series("a candidate", times, "marks"), charts.Series("the best so far", best, "line")]
    if library is not None:
        series.append(charts.Series(LIBRARY, [library] * len(trials), "line"))
    texts = [f"trial {t.number}, {t.origin}" for t in trials]
    across = charts.ChartPoints("trial", [str(t.number) for t in trials], texts)
    axis = charts.ChartAxis("time of a run", duration, logarithmic=True)
    failed = [t.status for t in trials if t.median is None]
    note = f"Without a time: {summarize_statuses(failed)}." if failed else ""
    return Chart(title, [charts.curves(title, series, across, axis, width) for width in WIDTHS], note)


def _importance(trials: Sequence[StudyTrial]) -> Chart:
    title = "How much each decision matters"
    shares = importance(trials)
    if isinstance(shares, str):
        return Chart(title, note=shares)
    note = "Its part of the differences between fast and slow candidates (PED-ANOVA)."
    return Chart(title, [charts.bars(title, shares, lambda v: f"{v:.0%}", width) for width in WIDTHS], note)


def _stages(trials: Sequence[StudyTrial]) -> Chart:
    title = "CPU time, by candidate and stage"
    names = list(dict.fromkeys(name for trial in trials for name in trial.stages))
    if not names:
        return Chart(title, note="No stage was timed.")
    size = -(-len(trials) // MOST_COLUMNS)
    groups = [trials[n : n + size] for n in range(0, len(trials), size)]
    series = []
    for name in names:
        values = [sum(trial.stages.get(name, 0.0) for trial in group) for group in groups]
        series.append(charts.Series(f"{STAGES.get(name, name)}: {sum(values):.3g} s", values))
    series.sort(key=lambda one: -sum(v or 0.0 for v in one.values))
    series = [*series[:MOST_STAGES], *_other_series(series[MOST_STAGES:])]
    texts = [f"trial {g[0].number}" if len(g) == 1 else f"trials {g[0].number} to {g[-1].number}" for g in groups]
    across = charts.ChartPoints("trial", [str(group[0].number) for group in groups], texts)
    axis = charts.ChartAxis("CPU seconds", lambda v: f"{v:.3g}")
    note = f"{size} candidates to a column." if size > 1 else ""
    return Chart(title, [charts.columns(title, series, across, axis, width) for width in WIDTHS], note)


MOST_STAGES = 6


def _other_series(series: Sequence[charts.Series]) -> Iterable[charts.Series]:
    """What has no color of its own, as one."""
    if series:
        sums = [sum(v or 0.0 for v in values) for values in zip(*(one.values for one in series), strict=True)]
        yield charts.Series(f"{len(series)} other stages: {sum(sums):.3g} s", sums)


def _chart(chart: Chart) -> str:
    drawn = [
        f'<div class="drawn {name}">{picture.inline}</div>'
        for name, picture in zip(("narrow", "wide"), chart.pictures, strict=bool(chart.pictures))
    ]
    note = f'<p class="note">{escape(chart.note)}</p>' if chart.note else ""
    return f'<section class="chart"><h3>{escape(chart.title)}</h3>{"".join(drawn)}{note}</section>'


def _failures(trials: Sequence[StudyTrial]) -> str:
    """The candidates that failed, by reason."""
    by_reason: dict[str, list[int]] = {}
    for trial in trials:
        if trial.median is None:
            by_reason.setdefault(f"{trial.status}: {trial.reason}".removesuffix(": "), []).append(trial.number)
    if not by_reason:
        return ""
    rows = "".join(
        f"<tr><td>{escape(reason)}</td><td>{len(numbers)}</td><td>{', '.join(map(str, numbers[:MOST_NUMBERS]))}"
        f"{', ...' if len(numbers) > MOST_NUMBERS else ''}</td></tr>"
        for reason, numbers in sorted(by_reason.items(), key=lambda entry: -len(entry[1]))[:MOST_REASONS]
    )
    head = "<tr><th>why</th><th>candidates</th><th>trials</th></tr>"
    table = f'<div class="scroll"><table>{head}{rows}</table></div>'
    return f"<details><summary>Candidates without a time</summary>{table}</details>"


MOST_NUMBERS, MOST_REASONS = 8, 40


LEAST = 4
"""Measured candidates that the importance of decisions takes."""


class StudyTrial(Protocol):
    """What is drawn of a candidate, see `TrialResult`."""

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
    def stages(self) -> dict[str, float]: ...

    @property
    def median(self) -> float | None: ...


def importance(trials: Sequence[StudyTrial]) -> list[tuple[str, float]] | str:
    """How much each decision that all measured candidates made decides about the time, by PED-ANOVA, the largest
    first; or why that is not known. The sum is 1."""
    import optuna

    with _silent():
        study = study_of(trials)
        measured = [t for t in study.trials if t.value is not None]
        common = set.intersection(*(set(t.params) for t in measured)) if measured else set()
        varied = {name for name in common if len({t.params[name] for t in measured}) > 1}
        if len(measured) < LEAST or not varied:
            return f"It takes {LEAST} measured candidates that decide differently; here are {len(measured)}."
        evaluator = optuna.importance.PedAnovaImportanceEvaluator()
        names = [name for name in measured[0].params if name in varied]
        shares = optuna.importance.get_param_importances(study, evaluator=evaluator, params=names)
    return sorted(((name, float(value)) for name, value in shares.items()), key=lambda entry: -entry[1])


def study_of(trials: Sequence[StudyTrial]) -> Study:
    """A study in memory: milliseconds, with decisions as positions among the values that were tried, in order.

    So a step from 2 to 4 counts as much as one from 512 to 1024.
    """
    import optuna

    seen: dict[str, set[int]] = {}
    for trial in trials:
        for name, value in trial.decisions.items():
            seen.setdefault(name, set()).add(value)
    ranks = {name: {value: n for n, value in enumerate(sorted(values))} for name, values in seen.items()}
    study = optuna.create_study(direction="minimize")
    for trial in _trials_by_number(trials):
        failed = trial is None or trial.median is None
        decisions = {} if trial is None else trial.decisions
        study.add_trial(
            optuna.trial.create_trial(
                state=optuna.trial.TrialState.FAIL if failed else optuna.trial.TrialState.COMPLETE,
                value=None if trial is None or trial.median is None else 1e3 * trial.median,
                params={name: ranks[name][value] for name, value in decisions.items()},
                distributions={
                    name: optuna.distributions.IntDistribution(0, len(ranks[name]) - 1) for name in decisions
                },
            )
        )
    return study


def _trials_by_number(trials: Sequence[StudyTrial]) -> Iterator[StudyTrial | None]:
    """The trials in order, None for a number that none has: optuna numbers them anew."""
    by_number = {trial.number: trial for trial in trials}
    return (by_number.get(number) for number in range(max(by_number, default=-1) + 1))


@contextmanager
def _silent() -> Iterator[None]:
    """Without the messages of optuna."""
    import optuna

    verbosity = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
            yield
    finally:
        optuna.logging.set_verbosity(verbosity)
