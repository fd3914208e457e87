"""The result of a search over a model."""

from __future__ import annotations

from dataclasses import dataclass, field

from tir_mlir.graph.model import Model
from tir_mlir.tune.report.search_plots import SearchPlots
from tir_mlir.tune.report.table import align_columns, duration
from tir_mlir.tune.search.best import Best, search_of

HEAD = (
    "function", "calls", "share", "library's schedule", "best found", "gain", "in the model", "trials", "verified",
)  # fmt: skip


@dataclass(frozen=True)
class TunedFunction:
    """A function of a model.

    calls: in a run.
    before, after: seconds of all of them in a run of the model, with the library's schedule and with the best found.
        library_seconds, seconds, gain: of one call, measured alone.
    best: the result of its search; None if it was not searched.
    used: False if what was found is slower in the model, and the library's schedule was kept.
    """

    name: str
    calls: int
    before: float
    after: float
    best: Best | None
    used: bool = True

    @property
    def library_seconds(self) -> float | None:
        return None if self.best is None else self.best.library_seconds

    @property
    def seconds(self) -> float | None:
        return None if self.best is None else self.best.seconds

    @property
    def gain(self) -> float | None:
        """How many times as fast as with the library's schedule."""
        return None if self.best is None else self.best.gain

    @property
    def trials(self) -> int:
        """How many candidates were tried."""
        return 0 if self.best is None else len(self.best.trials)

    @property
    def verified(self) -> str:
        """What was checked of the best schedule; "" if it was not."""
        return "" if self.best is None else self.best.verified


@dataclass
class BestOfModel:
    """A tuned model, and how it was found. Prints as a table.

    model: compiled with the best schedules.
    functions: those of the model, most time first.
    library_seconds, seconds: of a run with the library's schedules and with the best found, the fastest of interleaved
        rounds.
    trials: how many candidates, those of earlier runs included.
    notes: what did not go as asked.
    interrupted: by Ctrl-C.
    """

    model: Model
    functions: list[TunedFunction]
    library_seconds: float
    seconds: float
    trials: int
    notes: list[str] = field(default_factory=list)
    interrupted: bool = False

    @property
    def gain(self) -> float:
        """How many times as fast as with the library's schedules."""
        return self.library_seconds / self.seconds

    @property
    def searched(self) -> list[TunedFunction]:
        """The functions that were searched."""
        return [function for function in self.functions if function.best is not None]

    def plot(self) -> SearchPlots:
        """Draw the searches of the functions, see `Best.plot`."""
        bests = [function.best for function in self.searched if function.best is not None]
        names = [function.name for function in self.searched]
        return SearchPlots({name: search_of(best) for name, best in zip(names, bests, strict=True)})

    def __str__(self) -> str:
        total = sum(function.before for function in self.functions) or 1.0
        rows: list[tuple[str, ...]] = [HEAD, *(_row(function, total) for function in self.searched)]
        others = [function for function in self.functions if function.best is None]
        if others:
            calls = sum(function.calls for function in others)
            share = sum(function.before for function in others) / total
            rows.append((f"{len(others)} not searched", str(calls), f"{share:.1%}", *[""] * 6))
        times = duration(self.library_seconds), duration(self.seconds), f"{self.gain:.2f}"
        rows.append(("model", "", "", *times, "", str(self.trials), ""))
        return "\n".join(align_columns(rows) + [f"note: {note}" for note in self.notes])

    __repr__ = __str__


def _row(function: TunedFunction, total: float) -> tuple[str, ...]:
    gain = "" if function.gain is None else f"{function.gain:.2f}"
    times = duration(function.library_seconds), duration(function.seconds), gain
    model_gain = f"{function.before / function.after:.2f}" + ("" if function.used else ", not used")
    checked = str(function.trials), "yes" if function.verified else "no"
    return function.name, str(function.calls), f"{function.before / total:.1%}", *times, model_gain, *checked
