"""Searches as studies of optuna, for the importance of their decisions."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from optuna import Study

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
