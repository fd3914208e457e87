"""A kind of item: how one is made and tried."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random


class Fault(AssertionError):
    """The product did wrong; the text tells what it was given and what it did."""


@dataclass(frozen=True)
class Record:
    """What came out of an item: a word, counts by (what, of what), and its story for who asks."""

    word: str
    counts: Counter[tuple[str, str]] = field(default_factory=Counter)
    story: Callable[[], str] = str


@dataclass(frozen=True)
class Kind:
    """Inputs of one kind. `case` makes one from the random numbers alone, feeds it to the product and returns a word
    for what came out ("accepted", "refused"; "survived": MLIR crashed in the child of `tir-opt`); it raises Fault, and
    may die or hang. `weight`: its share of the inputs.
    """

    case: Callable[[Random], str | Record]
    weight: int = 1
