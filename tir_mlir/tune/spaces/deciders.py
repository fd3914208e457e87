"""Deciders: what makes the decisions of a space, other than random numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tir_mlir.dialect.diagnostics import check_type
from tir_mlir.passes.schedule.queries.decider import Decider


class Defaults:
    """Decides everything by its default: the heaviest candidate, the first of equals.

    Over a space of the library with free parameters, this is the library's own schedule.
    """

    def choose(self, name: str, candidates: Sequence[int], weights: Sequence[float]) -> int:
        return max(range(len(candidates)), key=lambda n: weights[n])


class Fixed:
    """Repeats decisions, given as values by name: `Fixed({"C.tile_rows": 6})`; `otherwise` decides what they lack.

    A value that is not a candidate, as on another size, becomes the nearest one, the smaller of two.
    """

    def __init__(self, decisions: Mapping[str, int], otherwise: Decider | None = None):
        check_type(decisions, Mapping, "Fixed", "decisions", "a dictionary of values by name")
        self.decisions = dict(decisions)
        self.otherwise: Decider = otherwise or Defaults()

    def choose(self, name: str, candidates: Sequence[int], weights: Sequence[float]) -> int:
        if name not in self.decisions:
            return self.otherwise.choose(name, candidates, weights)
        decision = self.decisions[name]
        return min(range(len(candidates)), key=lambda n: (abs(candidates[n] - decision), candidates[n]))


class Recording:
    """Decides as `inner` does, and keeps what was decided: values by name, in order, in `decisions`."""

    def __init__(self, inner: Decider):
        self.inner = inner
        self.decisions: dict[str, int] = {}

    def choose(self, name: str, candidates: Sequence[int], weights: Sequence[float]) -> int:
        position = self.inner.choose(name, candidates, weights)
        self.decisions[name] = candidates[position]
        return position
