"""Decider: what makes the decisions of sampling steps in place of the random numbers."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Protocol

from tir_mlir.dialect.diagnostics import short_repr
from tir_mlir.passes.schedule.queries.rng import Random


class Decider(Protocol):
    """Makes the decisions of sampling steps: a search, recorded decisions, defaults."""

    def choose(self, name: str, candidates: Sequence[int], weights: Sequence[float]) -> int:
        """The position of the chosen candidate. The candidates are ordered; the heaviest is the default."""
        ...


class DeciderError(Exception):
    """A decider raised an error, its cause: neither the program's fault nor that of the step."""


@dataclass(frozen=True)
class Choices:
    """What a sampling step draws from: the decider of the schedule if it has one, else its random numbers.

    taken: the names of the decisions so far.
    """

    random: Random
    decider: Decider | None = None
    taken: Collection[str] = ()

    def name(self, base: str) -> str:
        """A name for a decision: `base`, or with `#2`, `#3`, ... if it is taken."""
        number, candidate = 1, base
        while candidate in self.taken:
            number += 1
            candidate = f"{base}#{number}"
        return candidate

    def asked(self, name: str, candidates: Sequence[int], weights: Sequence[float]) -> int:
        """The position that the decider chooses. Errors: DeciderError; TypeError and ValueError for a wrong answer."""
        if self.decider is None:
            raise TypeError("this schedule has no decider")
        try:
            position = self.decider.choose(name, list(candidates), list(weights))
        except Exception as error:
            raise DeciderError(str(error)) from error
        if isinstance(position, bool) or not hasattr(type(position), "__index__"):
            raise TypeError(f'the decider chose {short_repr(position)} for "{name}", which is not a position')
        if not 0 <= position < len(candidates):
            raise ValueError(
                f'the decider chose position {position} for "{name}", which has {len(candidates)} candidates'
            )
        return int(position)
