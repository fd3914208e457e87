"""Decisions of a candidate: asked of optuna, replayed, or defaults; and what the search remembers of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tir_mlir.passes.schedule.queries.decider import Decider

if TYPE_CHECKING:
    from optuna.trial import Trial

_NUMBER = re.compile(r"#\d+$")


@dataclass(frozen=True)
class SpaceChoice:
    """One decision: which of `count` candidates was taken, at what position, and its value.

    low, high: the least and the greatest value among the candidates; None: not known.
    """

    name: str
    position: int
    count: int
    value: int
    low: int | None = None
    high: int | None = None


class RepeatedDecisions(BaseException):
    """The decisions so far are all of those of an earlier candidate, `tag`. Ends the run of a space.

    Not an Exception: a space that tries one schedule after another catches those.
    """

    def __init__(self, tag: int | None):
        super().__init__(f"the decisions of candidate {tag}")
        self.tag = tag


class Suggestions:
    """A decider that asks an optuna trial for the position among the candidates, an ordered integer."""

    def __init__(self, trial: Trial):
        self.trial = trial

    def choose(self, name: str, candidates: Sequence[int], weights: Sequence[float]) -> int:
        return self.trial.suggest_int(name, 0, len(candidates) - 1)


class Focused:
    """Asks `inner` for the decisions of one block, those whose names start with `prefix`; `others` decides the rest."""

    def __init__(self, prefix: str, inner: Decider, others: Decider):
        self.prefix, self.inner, self.others = prefix, inner, others

    def choose(self, name: str, candidates: Sequence[int], weights: Sequence[float]) -> int:
        decider = self.inner if name.startswith(self.prefix) else self.others
        return decider.choose(name, candidates, weights)


class Tried:
    """The decisions of earlier candidates, as a tree: a repeated one is reported at its last decision.

    A space is deterministic: equal decisions so far lead to the same next one, or to none.
    """

    def __init__(self) -> None:
        self._next: dict[tuple[str, int], Tried] = {}
        self.tag: int | None = None

    def add(self, decisions: Iterable[tuple[str, int]], tag: int) -> None:
        """Remember a candidate by its decisions, in order."""
        node = self
        for decision in decisions:
            node = node._next.setdefault(decision, Tried())
        node.tag = tag

    def child(self, name: str, value: int) -> Tried | None:
        """What is known of the candidates that decide this next."""
        return self._next.get((name, value))

    @property
    def is_complete(self) -> bool:
        """Whether these were all decisions of an earlier candidate."""
        return self.tag is not None and not self._next


@dataclass
class Deciding:
    """Asks `inner`, keeps its choices in order, and raises Repeated at the last decision of a candidate of `tried`.

    Names are counted here, in their scope: `tile`, `tile#2`, also where a step that made a decision was undone and its
    name was free again. So equal functions of a module have equal decisions, each in its scope.
    """

    inner: Decider
    tried: Tried | None = None
    scope: str = ""
    """What the names start with: the function that is scheduled, in a module of several."""
    choices: list[SpaceChoice] = field(default_factory=list)
    _asked: dict[str, int] = field(default_factory=dict)

    def choose(self, name: str, candidates: Sequence[int], weights: Sequence[float]) -> int:
        name = self.scope + _NUMBER.sub("", name)
        self._asked[name] = times = self._asked.get(name, 0) + 1
        name = name if times == 1 else f"{name}#{times}"
        position = self.inner.choose(name, candidates, weights)
        value = int(candidates[position])
        low, high = int(min(candidates)), int(max(candidates))
        self.choices.append(SpaceChoice(name, position, len(candidates), value, low, high))
        self.tried = self.tried.child(name, value) if self.tried else None
        if self.tried and self.tried.is_complete:
            raise RepeatedDecisions(self.tried.tag)
        return position
