"""Programs of several functions: tuned one by one, with trials where the time goes, then put together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from tir_mlir.dialect.diagnostics import NotChecked, TuneError
from tir_mlir.dialect.ir import held_module
from tir_mlir.schedule import Schedule
from tir_mlir.script.module import IRModule, module_text
from tir_mlir.tune.records.database import Database
from tir_mlir.tune.records.record import Record, subject
from tir_mlir.tune.report.search_plots import SearchPlots, plots_of
from tir_mlir.tune.report.table import duration, in_columns
from tir_mlir.tune.search.best import Best
from tir_mlir.tune.search.candidates import Candidate, Space, drawn
from tir_mlir.tune.search.finals import NotEqual, verified
from tir_mlir.tune.search.session import Listener, TrialResult
from tir_mlir.tune.search.suggestions import Deciding
from tir_mlir.tune.search.tuner import Options, Tuner
from tir_mlir.tune.spaces.deciders import Fixed
from tir_mlir.tune.trials.pool import Pool

LEAST = 4
"""Trials of a function that takes next to no time."""


class EachFunction:
    """A space of a module: the space of each function, its decisions named `function/C.tile`."""

    def __init__(self, spaces: Mapping[str, Space]):
        self.spaces = dict(spaces)

    def __call__(self, sch: Schedule) -> None:
        decider = sch.executor.decider
        for name, space in self.spaces.items():
            if isinstance(decider, Deciding):
                decider.scope = f"{name}/"
            sch.work_on(name)
            space(sch)
        sch.executor.working = None


@dataclass
class BestOfModule:
    """The best schedules of the functions of a module, in one schedule. Prints as a table.

    functions: a `Best` by function. seconds, library_seconds: of all functions, each called once. The other fields: see
    `Best`.
    """

    schedule: Schedule
    decisions: dict[str, int]
    functions: dict[str, Best]
    record: Record
    verified: str = ""
    notes: list[str] = field(default_factory=list)

    @property
    def seconds(self) -> float | None:
        return _sum([best.seconds for best in self.functions.values()])

    @property
    def library_seconds(self) -> float | None:
        return _sum([best.library_seconds for best in self.functions.values()])

    @property
    def gain(self) -> float | None:
        """How many times as fast as the library's choice; None if one of them was not measured."""
        return self.library_seconds / self.seconds if self.library_seconds and self.seconds else None

    @property
    def trials(self) -> list[TrialResult]:
        """What became of each candidate, function by function."""
        return [trial for best in self.functions.values() for trial in best.trials]

    @property
    def interrupted(self) -> bool:
        return any(best.interrupted for best in self.functions.values())

    def plot(self) -> SearchPlots:
        """Draw the searches of the functions, see `Best.plot`."""
        return SearchPlots({name: plots_of(b.trials, b.library_seconds) for name, b in self.functions.items()})

    def __str__(self) -> str:
        rows = [("function", "library's schedule", "best found", "gain", "trials")]
        for name, best in self.functions.items():
            rows.append((name, *_times(best), str(len(best.trials))))
        rows.append(("all", *_times(self), str(len(self.trials))))
        lines = in_columns(rows)
        lines.append(f"verified: {self.verified}" if self.verified else "not verified")
        return "\n".join(lines + [f"note: {note}" for note in self.notes])

    __repr__ = __str__


def _times(best: Best | BestOfModule) -> tuple[str, str, str]:
    gain = "" if best.gain is None else f"{best.gain:.2f}"
    return duration(best.library_seconds), duration(best.seconds), gain


def _sum(seconds: list[float | None]) -> float | None:
    measured = [s for s in seconds if s is not None]
    return sum(measured) if len(measured) == len(seconds) else None


def tune_module(program: IRModule, options: Options, listener: Listener, pool: Pool) -> BestOfModule:
    """Tune each function of a module, the trials shared by the time that the library's schedules take."""
    tuners = {name: Tuner(program[name].alone, options, listener, pool) for name in program}
    counts = shares({name: tuner.library_seconds() for name, tuner in tuners.items()}, options.trials)
    bests: dict[str, Best] = {}
    for name, tuner in tuners.items():
        interrupted = any(best.interrupted for best in bests.values())
        tuner.options = replace(options, trials=1 if interrupted else counts[name])
        bests[name] = tuner.run()
    return _together(program, {n: (bests[n], _space(tuners[n], bests[n])) for n in tuners}, options)


def shares(seconds: Mapping[str, float], trials: int) -> dict[str, int]:
    """Trials by function, in proportion to its time, at least four each.

    f: 9 ms, g: 1 ms, 48 trials -> f: 40, g: 8
    """
    least = min(LEAST, max(1, trials // len(seconds)))
    spread, total = max(0, trials - least * len(seconds)), sum(seconds.values()) or 1.0
    return {name: least + round(spread * time / total) for name, time in seconds.items()}


def _space(tuner: Tuner, best: Best) -> Space:
    """The space that the best schedule of a function is of: the user's, or the library's, whose choice won."""
    return tuner.library if best.is_library else tuner.space


def _together(program: IRModule, winners: Mapping[str, tuple[Best, Space]], options: Options) -> BestOfModule:
    """One schedule of the whole module, verified, and its record."""
    decisions = {f"{name}/{key}": v for name, (best, _) in winners.items() for key, v in best.decisions.items()}
    candidate = drawn(program, EachFunction({name: space for name, (_, space) in winners.items()}), Fixed(decisions))
    if candidate.schedule is None:
        raise TuneError(f"the best schedules of the functions do not go together: {candidate.reason}")
    functions = {name: best for name, (best, _) in winners.items()}
    checked, notes = _checked(candidate.schedule)
    about = subject(program, options.target, options.threads)
    seconds = _sum([best.seconds for best in functions.values()])
    record = about.record(
        space=options.space_name,
        decisions=decisions,
        trace=candidate.schedule.trace.as_json(),
        text=_text(candidate),
        seconds=() if seconds is None else (seconds,),
        verified=checked,
    )
    if options.work_dir is not None and record.seconds:
        Database(options.work_dir, threads=options.threads).add(record)
    return BestOfModule(candidate.schedule, decisions, functions, record, checked, notes)


def _checked(schedule: Schedule) -> tuple[str, list[str]]:
    try:
        return verified(schedule), []
    except NotChecked as reason:
        return "", [f"the module is not verified: {reason}; its functions are, see `functions`"]
    except NotEqual as difference:
        raise TuneError(f"the module is not equal to the program, though its functions are: {difference}") from None


def _text(candidate: Candidate) -> str:
    module = held_module(candidate.schedule)
    return "" if module is None else module_text(module)
