"""A kind of item: how one is made and tried."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random


class Fault(AssertionError):
    """The product did wrong; the text tells what it was given and what it did."""


@dataclass(frozen=True)
class Kind:
    """Inputs of one kind. `case` makes one from the random numbers alone, feeds it to the product and returns a word
    for what came out ("accepted", "refused"); it raises Fault, and may die or hang. `weight`: its share of the inputs.
    """

    case: Callable[[Random], str]
    weight: int = 1
