"""What to try next: first what is known to be good, then what a sampler of optuna suggests."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from tir_mlir.passes.schedule.queries.decider import Decider
from tir_mlir.tune.search.candidates import Candidate, Space, draw_candidate
from tir_mlir.tune.search.ledger import choices_of, frozen
from tir_mlir.tune.search.samplers import load_optuna, quiet
from tir_mlir.tune.search.suggestions import Focused, RepeatedDecisions, SpaceChoice, Suggestions, Tried
from tir_mlir.tune.spaces.deciders import Fixed

if TYPE_CHECKING:
    from optuna import Study
    from optuna.samplers import BaseSampler
    from optuna.trial import FrozenTrial, Trial

    from tir_mlir.script.module import IRModule

STUBBORN = 4
"""Repeated suggestions in a row after which one is drawn at random."""
EXHAUSTED = 48
"""Repeated suggestions in a row after which a space is taken to have no more candidates."""


class Proposals:
    """Candidates of a space that were not tried yet. A study in memory has all that the sampler learns from."""

    def __init__(self, program: IRModule, space: Space, sampler: BaseSampler, seed: int | None):
        optuna = load_optuna()
        self.program, self.space, self.sampler = program, space, sampler
        self.random = optuna.samplers.RandomSampler(seed=seed)
        self.tried = Tried()
        self.waiting: deque[tuple[Decider, str, int | None]] = deque()
        self.unneeded: list[int] = []
        """Numbers of trials to be taken up that turned out to be repeated."""
        self.repeated = 0
        self.exhausted = False
        self._told: dict[int | None, float | None] = {}
        self._tags: dict[int, int] = {}
        self._known: list[tuple[list[SpaceChoice], float | None]] = []
        self._asked: dict[int, tuple[Study, Trial]] = {}
        self.focus("", {})

    def enqueue(self, decider: Decider, origin: str, number: int | None = None) -> None:
        """Try what this decider decides before the sampler is asked. number: of the trial that is taken up."""
        self.waiting.append((decider, origin, number))

    def focus(self, prefix: str, fixed: dict[str, int]) -> None:
        """Look for the decisions whose names start with `prefix`, with the others fixed; "" for all of them.

        The sampler learns from the candidates that differ from `fixed` in these decisions only.
        """
        optuna = load_optuna()
        self.prefix, self.fixed, self.exhausted = prefix, fixed, False
        with quiet():
            self.study: Study = optuna.create_study(sampler=self.sampler, direction="minimize")
        for choices, value in self._known:
            self._add(choices, value)

    def learn(self, trial: FrozenTrial) -> None:
        """Tell a trial of an earlier run, or of another process."""
        choices = choices_of(trial)
        value = trial.value if trial.state.name == "COMPLETE" else None
        self._remember(choices, value)
        self._known.append((choices, value))
        self._add(choices, value)

    def next_candidate(self) -> Candidate | None:
        """The next candidate; None once the space seems to have no more."""
        while self.waiting:
            decider, origin, number = self.waiting.popleft()
            try:
                candidate = draw_candidate(self.program, self.space, decider, self.tried, origin)
            except RepeatedDecisions:
                self.unneeded += [] if number is None else [number]
                continue
            candidate.number = number
            return self._new(candidate)
        return self._sample_candidate()

    def tell(self, candidate: Candidate, value: float | None) -> None:
        """What became of a candidate: seconds, or None for one that failed."""
        self._told[self._tags.pop(id(candidate))] = value
        self._known.append((candidate.choices, value))
        study, trial = self._asked.pop(id(candidate), (None, None))
        if study is self.study and trial is not None:
            self._tell(trial, value)
        else:
            self._add(candidate.choices, value)

    def _sample_candidate(self) -> Candidate | None:
        for attempt in range(EXHAUSTED):
            with quiet():
                self.study.sampler = self.sampler if attempt < STUBBORN else self.random
                trial = self.study.ask()
                try:
                    name = type(self.study.sampler).__name__.removesuffix("Sampler")
                    candidate = draw_candidate(self.program, self.space, self._decider(trial), self.tried, name)
                except RepeatedDecisions as repeated:
                    self.repeated += 1
                    self._tell(trial, self._told.get(repeated.tag))
                    continue
                except BaseException:
                    self._tell(trial, None)
                    raise
            self._asked[id(candidate)] = self.study, trial
            return self._new(candidate)
        self.exhausted = True
        return None

    def _new(self, candidate: Candidate) -> Candidate:
        self._tags[id(candidate)] = self._remember(candidate.choices, None)
        return candidate

    def _remember(self, choices: list[SpaceChoice], value: float | None) -> int:
        tag = len(self._told)
        self._told[tag] = value
        self.tried.add(((c.name, c.value) for c in choices), tag)
        return tag

    def _decider(self, trial: Trial) -> Decider:
        suggestions = Suggestions(trial)
        return Focused(self.prefix, suggestions, Fixed(self.fixed)) if self.prefix else suggestions

    def _add(self, choices: list[SpaceChoice], value: float | None) -> None:
        """Show a result to the sampler, if it is one of what it looks for."""
        if any(not c.name.startswith(self.prefix) and self.fixed.get(c.name, c.value) != c.value for c in choices):
            return
        focused = [c for c in choices if c.name.startswith(self.prefix)]
        with quiet():
            self.study.add_trial(frozen(focused, "PRUNED" if value is None else "COMPLETE", {}, value))

    def _tell(self, trial: Trial, value: float | None) -> None:
        optuna = load_optuna()
        state = optuna.trial.TrialState.PRUNED if value is None else optuna.trial.TrialState.COMPLETE
        self.study.tell(trial, value, state=state)
