"""Conditions on loops that tell some iterations of them from the others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from tir_mlir.accel.program import Conditions
from tir_mlir.dialect.symbolic import Constant, Dim, IntExpr

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tir_mlir.accel.timing.stream import Integers

FREE = np.iinfo(np.int64).max
"""The value of an iteration in which nothing has to be done."""
MOST = 4
"""Parts into which the range of a loop is divided at most."""


def ranges(names: Sequence[str], iterations: Integers, values: Integers) -> list[tuple[Conditions, int]]:
    """The iterations in parts, each with the least of the values in it: the range of one loop is divided, so that the
    parts keep as much as possible. A part whose values are all FREE is left out, if that does not take too many parts.

    `iterations`: the loops that `names` are the names of, a row an iteration.
    """
    lowest = int(values.min())
    best: list[tuple[Conditions, int]] = [((), lowest)]
    gain = 0
    for column in reversed(range(len(names))):
        numbers, which = np.unique(iterations[:, column], return_inverse=True)
        least = np.full(len(numbers), FREE)
        np.minimum.at(least, which, values)
        if len(_runs(least)) > MOST:  # what is free gets the value of its neighbor
            for number in np.flatnonzero(least == FREE).tolist():
                least[number] = least[number - 1] if number else least[least != FREE][0]
        runs = _runs(least)
        own = int((np.minimum(least, lowest + 2**20)[which] - lowest).sum())
        if len(runs) <= MOST and own > gain and (numbers == np.arange(len(numbers)) + numbers[0]).all():
            gain = own
            best = [
                (range_conditions(names[column], numbers, first, end), int(least[first]))
                for first, end in runs
                if least[first] != FREE
            ]
    return best


def _runs(values: Integers) -> list[tuple[int, int]]:
    """Where equal values follow each other: from where to before where."""
    starts = np.flatnonzero(np.diff(values, prepend=values[0] - 1)).tolist()
    return list(zip(starts, [*starts[1:], len(values)], strict=True))


def range_conditions(name: str, numbers: Integers, first: int, end: int) -> Conditions:
    """A loop is in part of its range: from index `first` to before `end`."""
    found: list[tuple[IntExpr, bool]] = []
    if end - first == 1 and len(numbers) > 1:
        return ((Dim(name) - int(numbers[first]), True),)
    if first:
        found.append((Dim(name) - int(numbers[first]), False))
    if end < len(numbers):
        found.append((Constant(int(numbers[end - 1])) - Dim(name), False))
    return tuple(found)


def subset(names: Sequence[str], iterations: Integers, is_chosen: NDArray[np.bool_]) -> list[Conditions] | None:
    """Conditions, of which one holds in the chosen iterations and none in the others; None if there are none of the
    forms that are tried: for each range of one loop all, none, or all from one iteration of the other loops on, or up
    to one."""
    whole = _pattern(iterations, is_chosen)
    if whole is not None:
        return [_flat_conditions(names, iterations, *whole)]
    for column in reversed(range(len(names))):
        numbers, which = np.unique(iterations[:, column], return_inverse=True)
        others = [c for c in range(len(names)) if c != column]
        patterns: list[tuple[int, int] | None] = []
        for number in range(len(numbers)):
            patterns.append(_pattern(iterations[which == number][:, others], is_chosen[which == number]))
        if None in patterns or (numbers != np.arange(len(numbers)) + numbers[0]).any():
            continue
        found: list[Conditions] = []
        first = 0
        for number in range(1, len(patterns) + 1):
            if number < len(patterns) and patterns[number] == patterns[first]:
                continue
            low, high = patterns[first] or (0, 0)
            if low < high:
                rest = iterations[which == first][:, others]
                own = _flat_conditions([names[c] for c in others], rest, low, high)
                found.append((*range_conditions(names[column], numbers, first, number), *own))
            first = number
        if len(found) <= MOST:
            return found
    return None


def _pattern(iterations: Integers, is_chosen: NDArray[np.bool_]) -> tuple[int, int] | None:
    """From which to before which iteration all are chosen, where these are all of a box of the loops; else None."""
    chosen = np.flatnonzero(is_chosen)
    if not len(chosen) or len(chosen) == len(is_chosen):
        return (0, len(chosen) and 2**62)
    low, high = int(chosen[0]), int(chosen[-1]) + 1
    is_box = len(iterations) == np.prod([len(np.unique(c)) for c in iterations.T])
    if len(chosen) != high - low or not is_box:
        return None
    return (low, 2**62 if high == len(is_chosen) else high)


def _flat_conditions(names: Sequence[str], iterations: Integers, low: int, high: int) -> Conditions:
    """The number of an iteration of a box of loops is from `low` to before `high`."""
    if low == 0 and high >= len(iterations):
        return ()
    total: IntExpr = Constant(0)
    stride = 1
    for name, column in reversed(list(zip(names, iterations.T, strict=True))):
        numbers = np.unique(column)
        if len(numbers) > 1:
            total = total + (Dim(name) - int(numbers[0])) * stride
        stride *= len(numbers)
    found: list[tuple[IntExpr, bool]] = []
    if low:
        found.append((total - low, False))
    if high < len(iterations):
        found.append((Constant(high - 1) - total, False))
    return tuple(found)
