"""The search over the functions of a model: rounds of trials, each where it is expected to save most time."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import ceil

from tir_mlir.dialect.diagnostics import TuneError
from tir_mlir.tune.models.tasks import Task
from tir_mlir.tune.report.model_progress import ModelListener
from tir_mlir.tune.search.best import Best
from tir_mlir.tune.search.finals import LIBRARY
from tir_mlir.tune.search.lab import NoReference
from tir_mlir.tune.search.ledger import study_names
from tir_mlir.tune.search.session import Session
from tir_mlir.tune.search.tuner import Options, Tuner
from tir_mlir.tune.trials.pool import Pool

ROUND = 8
"""Trials of a round: one function is searched, then it is decided anew."""


@dataclass
class Begun:
    """A function whose search has begun."""

    tuner: Tuner
    session: Session


class ModelSearch:
    """A search under way over the functions of a model.

    begun: the functions that were searched, now or in earlier runs. notes: what did not go as asked. interrupted: by
    Ctrl-C.
    """

    def __init__(self, tasks: Sequence[Task], options: Options, threads: int, listener: ModelListener, pool: Pool):
        self.tasks = {task.name: task for task in tasks}
        self.options, self.listener, self.pool = options, listener, pool
        self.standings = {task.name: Standing([task.seconds], task.least / threads) for task in tasks}
        self.begun: dict[str, Begun] = {}
        self.notes: list[str] = []
        self.interrupted = False
        self._start = time.monotonic()

    @property
    def trials(self) -> int:
        """Candidates so far, those of earlier runs included."""
        return sum(len(begun.session.results) for begun in self.begun.values())

    def run(self) -> dict[str, Best]:
        """Search until the trials or the seconds are spent, nothing is left to try, or Ctrl-C; then the finals.

        Returns what was found, by function; functions that were not searched have nothing. `settle` keeps it.
        """
        try:
            self._resume()
            while self._has_budget() and (name := next_function(self.standings)) is not None:
                self._round(name)
        except KeyboardInterrupt:
            self.interrupted = True
        finally:
            for begun in self.begun.values():
                begun.session.close()
        return self._finals()

    def settle(self, bests: Mapping[str, Best], slower: Collection[str]) -> None:
        """Keep what was found in the database; of functions that are slower with it, the library's schedule."""
        for name, best in bests.items():
            tuner = self.begun[name].tuner
            tuner.keep(tuner.library_record(best) if name in slower else best.record)

    # --- rounds -------------------------------------------------------------------------------------------------------

    def _resume(self) -> None:
        """Begin with the functions that an earlier run has searched: their trials count."""
        if not self.options.resume or (self.options.work_dir is None and self.options.storage is None):
            return
        studies = study_names(self.options.work_dir, self.options.storage)
        for name in self.tasks:
            if self._tuner(name).study_name in studies:
                self._begin(name)

    def _has_budget(self) -> bool:
        seconds = self._seconds_left()
        return self.trials < self.options.trials and (seconds is None or seconds > 0)

    def _seconds_left(self) -> float | None:
        limit = self.options.stop_after
        return None if limit is None else limit - (time.monotonic() - self._start)

    def _round(self, name: str) -> None:
        """Search one function for a round."""
        standing = self.standings[name]
        begun = self.begun.get(name) or self._begin(name)
        if begun is None:
            return
        tried = len(begun.session.results)
        trials = min(ROUND, self.options.trials - self.trials)
        seconds = self._seconds_left()
        self._shown(name)
        begun.tuner.advance(begun.session, trials, None if seconds is None else max(seconds, 0.0))
        standing.seconds.append(self._seconds(name))
        standing.over = begun.session.proposals.exhausted or len(begun.session.results) == tried
        if begun.session.interrupted:
            raise KeyboardInterrupt

    def _begin(self, name: str) -> Begun | None:
        """Begin the search of a function; None, with a note, if there is nothing to compare candidates with."""
        self._shown(name)
        tuner, standing = self._tuner(name), self.standings[name]
        try:
            session = tuner.begin()
        except NoReference as reason:
            self.notes.append(f"{name} keeps the library's schedule: {reason}")
            standing.over = True
            return None
        self.begun[name] = Begun(tuner, session)
        if session.results:
            rounds = ceil(len(session.results) / ROUND)
            standing.seconds += [standing.now] * (rounds - 1) + [self._seconds(name)]
        return self.begun[name]

    def _tuner(self, name: str) -> Tuner:
        task = self.tasks[name]
        return Tuner(task.program, replace(self.options, sizes=task.sizes), self.listener, self.pool)

    def _seconds(self, name: str) -> float:
        """Seconds of all calls of a function in a run, by the best candidate so far: in proportion to its trials."""
        task, session = self.tasks[name], self.begun[name].session
        library = next((r.median for r in session.results if r.origin == LIBRARY and r.ok), None)
        best = session.best.median if session.best is not None else None
        return task.seconds * min(1.0, best / library) if best and library else self.standings[name].now

    def _shown(self, name: str) -> None:
        counts = {n: len(b.session.results) for n, b in self.begun.items()}
        rows = [(n, s.seconds[0], s.now, counts.get(n, 0)) for n, s in self.standings.items()]
        self.listener.functions(name, sorted(rows, key=lambda row: -row[1]), self.options.trials)

    # --- the end ------------------------------------------------------------------------------------------------------

    def _finals(self) -> dict[str, Best]:
        """What was found: measured again and verified, function by function, the longest first."""
        bests: dict[str, Best] = {}
        skipped = False
        for name in sorted(self.begun, key=lambda n: -self.tasks[n].seconds):
            begun = self.begun[name]
            self._shown(name)
            begun.session.interrupted |= self.interrupted
            try:
                bests[name] = begun.tuner.finish(begun.session, skipped)
                skipped |= not bests[name].finals  # by a second Ctrl-C
            except TuneError as reason:
                self.notes.append(f"{name} keeps the library's schedule: {reason}")
        return bests


# --- which function of a model is searched next: where a round is expected to save most time of a run -----------------


RECENT = 0.2
"""The weight of what the last round has saved, against what a round may save at best."""
HEADROOM = 0.05
"""The part of its time that a function is never thought to be unable to save: roofs are those of float32."""


@dataclass
class Standing:
    """How far the search of a function is. seconds: of all its calls in a run, after each round; first without any.
    least: what these calls take at the roofs of the machine. over: nothing is left to try."""

    seconds: list[float]
    least: float = 0.0
    over: bool = field(default=False)

    @property
    def now(self) -> float:
        return self.seconds[-1]

    @property
    def rounds(self) -> int:
        return len(self.seconds) - 1


def expected_gain(standing: Standing) -> float:
    """The seconds of a run that another round is expected to save.

        0.2 * what the last round saved + 0.8 * min(seconds / (rounds + 1), seconds - least)

    The second term is a hope that shrinks with the rounds that were spent, and ends at the roof of the machine.
    """
    seconds, rounds = standing.now, standing.rounds
    hope = min(seconds / (rounds + 1), max(seconds - standing.least, HEADROOM * seconds))
    if not rounds:
        return hope
    return RECENT * max(0.0, standing.seconds[-2] - seconds) + (1 - RECENT) * hope


def next_function(standings: Mapping[str, Standing]) -> str | None:
    """The function whose next round is expected to save most; None if all are over."""
    open_ = {name: expected_gain(s) for name, s in standings.items() if not s.over}
    return max(open_, key=lambda name: open_[name], default=None)
