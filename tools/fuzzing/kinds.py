"""The interface of an item kind."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random


class Fault(AssertionError):
    """A bug of the package; the text holds its input and its behavior."""


@dataclass(frozen=True)
class Record:
    """The result of an item: a word, counts by (what, of what), and its story on demand."""

    word: str
    counts: Counter[tuple[str, str]] = field(default_factory=Counter)
    story: Callable[[], str] = str


@dataclass(frozen=True)
class Kind:
    """Inputs of one kind. `case` generates one from the random numbers alone, runs it and returns a word for the
    outcome ("accepted", "refused"; "survived": MLIR crashed in the child process of `tir-opt`). It raises Fault, and
    may crash or hang. `weight`: its share of the inputs; `unlimited`: its workers may reserve any address space."""

    case: Callable[[Random], str | Record]
    weight: int = 1
    unlimited: bool = False
