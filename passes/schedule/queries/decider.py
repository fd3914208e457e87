"""What makes the decisions of sampling steps: the random numbers of the schedule, or a decider instead of them.

The generator is a linear congruential one whose state is one integer.
"""

from __future__ import annotations

import secrets
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from tir_mlir.dialect.diagnostics import ScheduleError, short_repr

T = TypeVar("T")
_MULTIPLIER = 48271
_MODULUS = 2**31 - 1
_SPREAD = 1640531527  # small seeds give small first numbers; this spreads them over the whole range
_ZERO = 1812433253  # the state of seed 0: far from those of small seeds
_FORK_MULTIPLIER, _FORK_MODULUS = 32767, 1999999973


@dataclass
class Random:
    """x -> 48271 x mod 2^31 - 1. Equal seeds give equal sequences on every machine."""

    state: int

    @staticmethod
    def from_seed(seed: int | None) -> Random:
        """From a seed in [0, 2^31 - 1], or from the system's randomness. Errors: ValueError."""
        if seed is None:
            return Random(1 + secrets.randbelow(_MODULUS - 1))
        if not 0 <= seed <= _MODULUS:
            raise ValueError(f"a seed must be in [0, 2**31 - 1], {seed} is not")
        return Random(seed % _MODULUS or (1 if seed else _ZERO))  # 0 is a fixed point

    def advance(self) -> int:
        """The next number, in [1, 2^31 - 1)."""
        self.state = self.state * _MULTIPLIER % _MODULUS
        return self.state

    def fork_seed(self) -> int:
        """A seed for an independent generator."""
        return max(1, self.advance() * _FORK_MULTIPLIER % _FORK_MODULUS)

    def _draw(self) -> int:
        """A number in [0, 2^31 - 2), well distributed also for small seeds."""
        return self.advance() * _SPREAD % _MODULUS - 1

    def draw_below(self, count: int) -> int:
        """A number in [0, count), uniformly distributed."""
        if count > _MODULUS // 2:
            raise ScheduleError(f"{count} choices exceed the range of the generator")
        limit = (_MODULUS - 1) // count * count  # larger numbers would favor some remainders
        while (drawn := self._draw()) >= limit:
            pass
        return drawn % count

    def fraction(self) -> float:
        """A number in [0, 1)."""
        return self._draw() / (_MODULUS - 1)

    def choice(self, items: Sequence[T]) -> T:
        return items[self.draw_below(len(items))]

    def draw_weighted(self, weights: Sequence[float]) -> int:
        """A position in `weights`, with probability proportional to its weight; their sum must be positive."""
        remaining = self.fraction() * sum(weights)
        for position, weight in enumerate(weights):
            remaining -= weight
            if remaining < 0:
                return position
        return max(n for n, w in enumerate(weights) if w > 0)  # rounding


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

    def ask_decider(self, name: str, candidates: Sequence[int], weights: Sequence[float]) -> int:
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
