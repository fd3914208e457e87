"""Which candidates are measured: of those that are drawn, the ones with the least predicted times.

A prediction (`tir_mlir.prediction`) takes as long as a build, so it pays where a measurement takes longer: for programs
that run long, and on boards.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import TYPE_CHECKING

from tir_mlir.schedule import Schedule
from tir_mlir.tune.search.candidates import Candidate
from tir_mlir.tune.search.proposals import Proposals
from tir_mlir.tune.trials.outcome import Outcome

if TYPE_CHECKING:
    from optuna import Study

    from tir_mlir.tune.search.session import TrialResult

MEASURED = 10
"""Candidates that are measured before more are drawn."""
DRAWN = 4
"""Candidates that are drawn for each that is measured."""

Predict = Callable[[Schedule], "Future[Outcome]"]


class Screening:
    """Candidates of `proposals`, ranked by their predicted times.

    on: whether they are ranked; None: if a measurement of the first candidate takes longer than to make and predict it.
    """

    def __init__(self, proposals: Proposals, predict: Predict | None = None, on: bool | None = False):
        self.proposals, self._predict, self.on = proposals, predict, on
        self._ranked: list[tuple[float, Candidate]] = []
        self._left = 0
        """How many are measured before more are drawn."""
        self._study: Study | None = None

    def next_candidate(self, trials: int = MEASURED) -> Candidate | None:
        """The next candidate; None once the space seems to have no more. trials: how many are still to be measured."""
        if not self.on or self.proposals.waiting:
            return self.proposals.next_candidate()
        if self._study is not self.proposals.study:  # the search looks for other decisions now
            self._study, self._ranked, self._left = self.proposals.study, [], 0
        if not self._left:
            self._draw(min(trials, MEASURED))
        self._left = max(0, self._left - 1)
        return self._ranked.pop(0)[1] if self._ranked else None

    def decide(self, result: TrialResult) -> None:
        """Rank from now on, if this measurement took longer than what came before it."""
        if self.on is None and result.ok:
            measuring = sum(took for name, took in result.stages.items() if name.startswith("measure"))
            self.on = measuring > sum(result.stages.values()) - measuring

    def _draw(self, measured: int) -> None:
        """Draw more candidates, and rank them among those that are left."""
        drawn: list[Candidate] = []
        while len(drawn) < DRAWN * measured and (candidate := self.proposals.next_candidate()) is not None:
            if candidate.schedule is None:  # refused: the sampler learns from it
                self.proposals.tell(candidate, None)
            else:
                drawn.append(candidate)
        self._ranked = sorted([*self._ranked, *self._predict_all(drawn)], key=lambda pair: pair[0])
        self._left = measured

    def _predict_all(self, drawn: Sequence[Candidate]) -> list[tuple[float, Candidate]]:
        assert self._predict is not None  # it is on
        futures = [self._predict(c.schedule) for c in drawn if c.schedule is not None]
        seconds = [future.result().median for future in futures]
        return [(float("inf") if s is None else s, c) for s, c in zip(seconds, drawn, strict=True)]
