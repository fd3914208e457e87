"""The loop of a search: propose, build and measure, remember; until the trials are spent or the user stops it."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import suppress
from dataclasses import dataclass, field, replace
from statistics import median
from typing import TYPE_CHECKING, Protocol

from tir_mlir.dialect.diagnostics import TuneError
from tir_mlir.runtime.progress import log
from tir_mlir.tune.search.candidates import Candidate
from tir_mlir.tune.search.lab import Lab
from tir_mlir.tune.search.ledger import DECISIONS, OUTCOME, Ledger
from tir_mlir.tune.search.proposals import Proposals
from tir_mlir.tune.search.screening import Screening
from tir_mlir.tune.search.stages import SearchStage
from tir_mlir.tune.spaces.deciders import Fixed
from tir_mlir.tune.trials.outcome import Outcome, Status

if TYPE_CHECKING:
    from optuna.trial import FrozenTrial

TICK = 0.5
"""Seconds between two looks at the clock while candidates run."""
LOOK = 5.0
"""Seconds between two looks for trials that another process left."""
REPEATED = "repeated"


class SearchListener(Protocol):
    """Is notified how a search goes on."""

    def begin(self, title: str, trials: int) -> None: ...

    def report_trial(self, trial: TrialResult, best: TrialResult | None) -> None: ...

    def phase(self, text: str) -> None: ...


@dataclass(frozen=True)
class TrialResult:
    """The result of one candidate.

    seconds: of single runs.
    origin: who proposed it.
    machine: "" or a board.
    """

    number: int
    origin: str
    decisions: dict[str, int]
    status: str
    seconds: tuple[float, ...] = ()
    stages: dict[str, float] = field(default_factory=dict)
    reason: str = ""
    machine: str = ""

    @property
    def median(self) -> float | None:
        """Seconds of a run; None if it was not measured."""
        return median(self.seconds) if self.seconds else None

    @property
    def ok(self) -> bool:
        """Whether it ran, and computed the right result."""
        return self.status == Status.OK.value and bool(self.seconds)

    def __str__(self) -> str:
        took = f"{1e3 * self.median:.4g} ms" if self.median is not None else ""
        what = ", ".join(part for part in (self.status, took, self.reason) if part)
        return f"trial {self.number} ({self.origin}): {what}"


@dataclass(frozen=True)
class Budget:
    """When a search ends.

    trials: of the study, those of earlier runs included.
    seconds: of this run.
    """

    trials: int
    seconds: float | None = None
    lanes: int = 1
    """How many candidates are built at once."""


Recorder = Callable[[Candidate, TrialResult], None]


class Session:
    """A search under way: what was tried, and what is running."""

    def __init__(
        self,
        proposals: Proposals,
        ledger: Ledger,
        lab: Lab,
        budget: Budget,
        record: Recorder,
        listener: SearchListener,
        screening: Screening | None = None,
    ):
        self.proposals, self.ledger, self.lab, self.budget = proposals, ledger, lab, budget
        self.screening = screening or Screening(proposals)
        self._record, self.listener = record, listener
        self.results: list[TrialResult] = []
        self.interrupted = False
        self.launched = 0
        """How many trials were started here."""
        self._running: dict[Future[Outcome], Candidate] = {}
        self._seen: set[int] = set()
        self._start = time.monotonic()
        self._elsewhere, self._looked = 0, 0.0
        self.stages: Sequence[SearchStage] = [SearchStage("", budget.trials)]
        self._stage = 0

    @property
    def best(self) -> TrialResult | None:
        """The fastest candidate so far."""
        return min((r for r in self.results if r.ok), key=lambda r: r.median or 0.0, default=None)

    def resume(self) -> None:
        """Take up what earlier runs left: their results are known, and what was running runs again."""
        self._take_up()
        self._learn()
        for trial in self.ledger.orphans():
            self.ledger.take_up(trial.number)
            self._seen.add(trial.number)
            self._retry_trial(trial, trial.number)

    def _retry_trial(self, trial: FrozenTrial, number: int | None) -> None:
        """Try what another process began, under this number, or under a new one."""
        decisions = trial.user_attrs.get(DECISIONS, {})
        self.proposals.enqueue(Fixed(decisions), str(trial.user_attrs.get("origin", "")), number)

    def _take_up(self) -> None:
        """Try again what other processes left, as far as their heartbeats tell, unless the search was ended."""
        self._looked = time.monotonic()
        if self.ledger.shared and self.ledger.is_ended():
            self.budget = replace(self.budget, trials=0)
        for trial in self.ledger.claim():
            self._seen.add(trial.number)
            self._retry_trial(trial, None)

    def run(self) -> None:
        """Search until the budget is spent, the space has no more, or Ctrl-C, which keeps everything; then close."""
        try:
            self.advance()
        finally:
            self.close()

    def advance(self) -> None:
        """Search until the budget is spent, the space has no more, or Ctrl-C, which keeps everything."""
        try:
            while self._launch_candidates() or self._running or self._wait_for_others():
                self._land()
        except KeyboardInterrupt:
            self.interrupted = True
        finally:
            self._running.clear()

    def extend(self, trials: int, seconds: float | None = None) -> None:
        """Make the budget these further trials and, from now, seconds."""
        until = None if seconds is None else time.monotonic() - self._start + seconds
        self.budget = replace(self.budget, trials=len(self.results) + trials, seconds=until)

    def close(self) -> None:
        """End the work on the ledger."""
        with suppress(TuneError):
            for number in self.proposals.unneeded:
                self.ledger.finish(number, None, {"status": REPEATED})
        self.ledger.close()

    def _launch_candidates(self) -> bool:
        """Start candidates while there is room. Whether one was started."""
        started = False
        while len(self._running) < self.budget.lanes and self._has_budget():
            self._enter_stage()
            candidate = self.screening.next_candidate(self._trials_left())
            if candidate is None and self._stage + 1 == len(self.stages):
                break
            if candidate is None:  # of this block; the others may have some
                self._focus(self._stage + 1)
                continue
            started = True
            self._launch(candidate)
        return started

    def begin_stages(self, stages: Sequence[SearchStage]) -> None:
        """Search in these stages."""
        self.stages = stages
        self._focus(0)

    def _enter_stage(self) -> None:
        """Go on to the stage that the number of trials is in."""
        under_way = len(self.results) + len(self._running)
        due = next((n for n, s in enumerate(self.stages) if under_way < s.until), len(self.stages) - 1)
        if due > self._stage:
            self._focus(due)

    def _focus(self, number: int) -> None:
        self._stage = number
        best = self.best
        self.proposals.focus(self.stages[number].prefix, best.decisions if best else {})

    def _has_budget(self) -> bool:
        late = self.budget.seconds is not None and time.monotonic() - self._start > self.budget.seconds
        return not late and self._trials_left() > 0

    def _trials_left(self) -> int:
        """How many candidates are still to be started."""
        return self.budget.trials - len(self.results) - len(self._running) - self._elsewhere

    def _wait_for_others(self) -> bool:
        """Whether trials of other processes are waited for: to learn what comes of them, or to take them up."""
        if not self._elsewhere:
            return False
        time.sleep(TICK)
        return True

    def _launch(self, candidate: Candidate) -> None:
        self.launched += 1
        if candidate.number is None:
            candidate.number = self.ledger.start(candidate.choices, candidate.decisions, candidate.origin)
            self._seen.add(candidate.number)
        if candidate.schedule is None:
            self._finish(candidate, Outcome(Status.REFUSED, reason=candidate.reason))
            return
        best = self.best
        self._running[self.lab.start(candidate.schedule, best.median if best else None)] = candidate

    def _land(self) -> None:
        """Wait for a candidate, and take in what is done."""
        done, _ = wait(self._running, timeout=TICK, return_when=FIRST_COMPLETED)
        for future in done:
            self._finish(self._running.pop(future), future.result())
        if time.monotonic() - self._looked > LOOK:
            self._take_up()
        if self.ledger.shared and (done or self._elsewhere):
            self._learn()

    def _finish(self, candidate: Candidate, outcome: Outcome) -> None:
        assert candidate.number is not None
        stages = {"schedule": candidate.seconds, **outcome.stages}
        facts = candidate.number, candidate.origin, candidate.decisions, outcome.status.value
        result = TrialResult(*facts, outcome.seconds, stages, outcome.reason, outcome.machine)
        self.results.append(result)
        score = result.median if outcome.status in (Status.OK, Status.SLOW) else None
        self.proposals.tell(candidate, score)
        self.ledger.finish(candidate.number, score, as_attribute(result))
        self._record(candidate, result)
        self.screening.decide(result)
        self._tell(result)

    def _tell(self, result: TrialResult) -> None:
        """Say how a candidate ended."""
        self.listener.report_trial(result, self.best)
        log("INFO", "search: %s", result)

    def _learn(self) -> None:
        """Take in the trials that other runs and other processes finished, and how many run elsewhere."""
        trials = self.ledger.trials()
        self._elsewhere = self.ledger.count_foreign_trials(trials)
        for trial in trials:
            if trial.number in self._seen or not trial.state.is_finished():
                continue
            self._seen.add(trial.number)
            result = trial_result(trial)
            if result is not None and result.status != REPEATED:
                self.results.append(result)
                self.proposals.learn(trial)
                self._tell(result)


def as_attribute(result: TrialResult) -> dict[str, object]:
    """The part of a result that is not a parameter of its trial, as JSON."""
    return {
        "status": result.status, "seconds": list(result.seconds), "stages": result.stages, "reason": result.reason,
        **({"machine": result.machine} if result.machine else {}),
    }  # fmt: skip


def trial_result(trial: FrozenTrial) -> TrialResult | None:
    """The result that a finished trial of a ledger keeps; None if it keeps none."""
    attrs = trial.user_attrs
    outcome = attrs.get(OUTCOME)
    if not isinstance(outcome, dict) or DECISIONS not in attrs:
        return None
    seconds = tuple(map(float, outcome.get("seconds", ())))
    return TrialResult(
        trial.number, str(attrs.get("origin", "")), dict(attrs[DECISIONS]), str(outcome.get("status", "")), seconds,
        dict(outcome.get("stages", {})), str(outcome.get("reason", "")),
        str(outcome.get("machine", "")),
    )  # fmt: skip
