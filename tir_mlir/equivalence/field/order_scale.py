"""The scale of the total order of field elements, under which the constants of a program compare as numbers do."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from math import lcm

from tir_mlir.equivalence.field.field_functions import P

REACH = 1 << 40
"""Integers up to this magnitude are in their order around 0, from every start point of the order."""


def scale_of(constants: Iterable[Fraction]) -> int:
    """A number whose product with each constant is an integer of at most `REACH`, so that `max(0.0, 0.5)` is 0.5.

    Constants for which there is none, as they are too large or too fine, are left out; so their order is arbitrary.
    """
    scale = 1
    in_reach = [c for c in constants if abs(c) <= REACH]
    largest = max((abs(c) for c in in_reach), default=Fraction(0))
    for denominator in sorted({c.denominator for c in in_reach}):
        wider = lcm(scale, denominator)
        if wider <= P // 2 and wider * largest <= REACH:  # the scale itself is an element, of int64
            scale = wider
    return scale


def inverse(scale: int) -> int:
    """The inverse of a scale in the field."""
    return pow(scale, -1, P)
