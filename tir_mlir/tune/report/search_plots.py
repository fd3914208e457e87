"""The plots of a search: its history, which decisions matter, where the time went."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from tir_mlir.dialect.diagnostics import TuneError

if TYPE_CHECKING:
    from optuna import Study
    from plotly.graph_objects import Figure

LEAST = 4
"""Measured candidates that the importance of decisions takes."""
HEIGHT = 380


class Shown(Protocol):
    """What is drawn of a candidate, see `TrialResult`."""

    @property
    def number(self) -> int: ...

    @property
    def decisions(self) -> dict[str, int]: ...

    @property
    def status(self) -> str: ...

    @property
    def stages(self) -> dict[str, float]: ...

    @property
    def median(self) -> float | None: ...


class SearchPlots:
    """The plots of a search. Draws itself in a notebook.

        plots = best.plot()
        plots.save("search.html")
        plots.history.update_layout(yaxis_type="log")

    history: the time of each candidate, the best so far, the library's choice. importance: how much each decision
    matters. stages: CPU seconds by candidate and stage. All are figures of plotly, and for a module lists of those, by
    function.
    """

    def __init__(self, figures: Mapping[str, Mapping[str, Figure]]):
        self.figures = {title: dict(by_name) for title, by_name in figures.items()}
        """By function ("" if there is one only), then by name: history, importance, stages."""

    @property
    def history(self) -> Any:
        return self._all("history")

    @property
    def importance(self) -> Any:
        return self._all("importance")

    @property
    def stages(self) -> Any:
        return self._all("stages")

    def _all(self, name: str) -> Any:
        figures = {title: by_name[name] for title, by_name in self.figures.items()}
        return figures if len(figures) > 1 else next(iter(figures.values()))

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write a page with the plots, which needs no network. Returns its path. Raises ValueError if the name does
        not end in .html."""
        target = Path(path)
        if target.suffix.lower() != ".html":
            raise ValueError(f"plots are saved as a page: use a file name that ends in .html, not {target.name!r}")
        head = '<!DOCTYPE html><html><head><meta charset="utf-8"><title>tir_mlir.tune</title></head>'
        page = f'{head}<body style="font-family: sans-serif">{self._repr_html_()}</body></html>\n'
        target.write_text(page, encoding="utf-8")
        return target

    def _repr_html_(self) -> str:
        parts, script = [], True
        for title, figures in self.figures.items():
            parts += [f"<h2>{escape(title)}</h2>"] if title else []
            for figure in figures.values():
                parts.append(figure.to_html(full_html=False, include_plotlyjs=script))
                script = False
        return "\n".join(parts)

    def __repr__(self) -> str:
        return "the plots of a search: save them as a page with .save('search.html')"


def plots_of(trials: Sequence[Shown], library: float | None = None) -> dict[str, Figure]:
    """The plots of the search of one function, by name. library: seconds of the library's choice.

    Raises TuneError if plotly or optuna is missing.
    """
    try:
        import plotly  # noqa: F401
    except ImportError:
        raise TuneError('plots need plotly; fix: pip install "tir-mlir[tune]"') from None
    drawn: dict[str, Callable[[], Figure]] = {
        "history": lambda: _history(trials, library),
        "importance": lambda: _importance(trials),
        "stages": lambda: _stages(trials),
    }
    with _silent():
        return {name: draw() for name, draw in drawn.items()}


def _history(trials: Sequence[Shown], library: float | None) -> Figure:
    import optuna

    figure = optuna.visualization.plot_optimization_history(study_of(trials), target_name="ms of a run")
    if library is not None:
        figure.add_hline(1e3 * library, line_dash="dot", annotation_text="library's schedule")
    return figure.update_layout(title="History", height=HEIGHT)


def _importance(trials: Sequence[Shown]) -> Figure:
    """PED-ANOVA's: of the decisions that all measured candidates made."""
    import optuna
    from plotly.graph_objects import Figure

    study = study_of(trials)
    measured = [t for t in study.trials if t.value is not None]
    common = set.intersection(*(set(t.params) for t in measured)) if measured else set()
    varied = [name for name in common if len({t.params[name] for t in measured}) > 1]
    title = "Importance of decisions"
    if len(measured) < LEAST or not varied:
        why = f"takes {LEAST} measured candidates that decide differently; here are {len(measured)}"
        figure = Figure().add_annotation(text=why, showarrow=False, xref="paper", yref="paper", x=0.5, y=0.5)
        return figure.update_layout(title=title, height=HEIGHT)
    evaluator = optuna.importance.PedAnovaImportanceEvaluator()
    names = [name for name in measured[0].params if name in varied]
    figure = optuna.visualization.plot_param_importances(study, evaluator, names, target_name="time")
    return figure.update_layout(title=title, height=max(HEIGHT, 90 + 22 * len(names)))


def _stages(trials: Sequence[Shown]) -> Figure:
    from plotly.graph_objects import Bar, Figure

    names = list(dict.fromkeys(name for trial in trials for name in trial.stages))
    numbers = [trial.number for trial in trials]
    bars = []
    for name in names:
        seconds = [trial.stages.get(name, 0.0) for trial in trials]
        statuses = [trial.status for trial in trials]
        bars.append(Bar(name=f"{name}: {sum(seconds):.3g} s", x=numbers, y=seconds, hovertext=statuses))
    return Figure(bars).update_layout(
        barmode="stack", title="Time by stage", xaxis_title="Trial", yaxis_title="CPU seconds", height=HEIGHT
    )


def study_of(trials: Sequence[Shown]) -> Study:
    """A study in memory: milliseconds, with decisions as places among the values that were tried, in order.

    So a step from 2 to 4 counts as much as one from 512 to 1024.
    """
    import optuna

    seen: dict[str, set[int]] = {}
    for trial in trials:
        for name, value in trial.decisions.items():
            seen.setdefault(name, set()).add(value)
    places = {name: {value: n for n, value in enumerate(sorted(values))} for name, values in seen.items()}
    study = optuna.create_study(direction="minimize")
    for trial in _numbered(trials):
        failed = trial is None or trial.median is None
        decisions = {} if trial is None else trial.decisions
        study.add_trial(
            optuna.trial.create_trial(
                state=optuna.trial.TrialState.FAIL if failed else optuna.trial.TrialState.COMPLETE,
                value=None if trial is None or trial.median is None else 1e3 * trial.median,
                params={name: places[name][value] for name, value in decisions.items()},
                distributions={
                    name: optuna.distributions.IntDistribution(0, len(places[name]) - 1) for name in decisions
                },
            )
        )
    return study


def _numbered(trials: Sequence[Shown]) -> Iterator[Shown | None]:
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
