"""How often loops of LLVM IR run, as LLVM's scalar evolution tells it: numbers, bounds, or expressions of loops
outside, which are averaged over the iterations of these.

    (8 umin {10,+,-8}<nsw><%outer>), %outer runs twice  ->  (8 + 2) / 2
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable, Mapping
from functools import reduce

from tir_mlir.dialect.diagnostics import BuildError
from tir_mlir.runtime.tools import toolchain

Trips = dict[tuple[str, str], float]
"""The iterations of a loop each time that it is entered, by function and the block of LLVM IR that begins it."""

_FUNCTION = re.compile(r"Determining loop execution counts for: @(?P<name>.+)")
_COUNT = re.compile(r"Loop %(?P<loop>.+?): (?P<bound>constant max )?backedge-taken count is (?P<text>.+)")
_MOST_TRIPS = 1 << 32
"""A bound above is that of the type of the variable, and tells nothing."""
_MOST_POINTS = 4096
"""Iterations of outer loops that an expression is averaged over."""


def count_trips(text: str) -> Trips:
    """The trip counts of the loops in LLVM IR: exact, averaged, or else the most that is proved. Raises BuildError."""
    done = toolchain.attempt("opt", ["-disable-output", "-passes=print<scalar-evolution>"], text)
    if done.returncode:
        raise BuildError(f"opt cannot count the iterations of loops: {done.stderr.strip()[:500]}")
    trips: Trips = {}
    symbolic: dict[tuple[str, str], str] = {}
    function = ""
    for line in done.stderr.splitlines():
        if (match := _FUNCTION.match(line)) is not None:
            function = match["name"].strip('"')
        elif (match := _COUNT.match(line)) is not None:
            key = function, match["loop"].strip('"')
            number = re.fullmatch(r"i\d+ (\d+)", match["text"])
            if number is None and not match["bound"]:
                symbolic[key] = match["text"]
            elif number is not None and int(number[1]) < _MOST_TRIPS:
                trips.setdefault(key, int(number[1]) + 1.0)
    for (function, loop), expression in symbolic.items():
        outer = {name: count for (owner, name), count in trips.items() if owner == function}
        if (average := average_count(expression, outer)) is not None:
            trips[function, loop] = average + 1
    return trips


def average_count(expression: str, trips: Mapping[str, float]) -> float | None:
    """The mean of an expression of scalar evolution over the iterations of the loops in it; None if it has other
    unknowns, or too many points."""
    loops = sorted(set(re.findall(r"<%([^>]+)>", expression)))
    sizes = [math.ceil(trips.get(loop, 0)) for loop in loops]
    if not all(sizes) or math.prod(sizes) > _MOST_POINTS:
        return None
    try:
        value = _Parser(expression).expression()
        points = [value(dict(zip(loops, point, strict=True))) for point in itertools.product(*map(range, sizes))]
    except (ValueError, IndexError, ZeroDivisionError):
        return None
    return sum(max(point, 0) for point in points) / len(points)


Value = Callable[[Mapping[str, int]], int]
_TOKEN = re.compile(r"\s*(?:<[a-z]+>|(\{|\}|\(|\)|,\+,|<%[^>]+>|/u|\+|\*|[a-z]+|-?\d+|%\S+))")
_OPERATIONS: dict[str, Callable[[int, int], int]] = {
    "+": lambda a, b: a + b,
    "*": lambda a, b: a * b,
    "/u": lambda a, b: a // b,
    "smin": min,
    "umin": min,
    "smax": max,
    "umax": max,
}


class _Parser:
    """Sums, products, quotients, minima, and recurrences `{start,+,step}<%loop>`; ValueError for anything else, such as
    a value of the program."""

    def __init__(self, text: str):
        self._tokens = [token for token in _TOKEN.findall(text) if token]
        if re.sub(r"\s", "", _TOKEN.sub("", text)):
            raise ValueError(text)

    def _take_token(self) -> str:
        return self._tokens.pop(0)

    def expression(self) -> Value:
        """`( a op b op c )`, or one value."""
        token = self._take_token()
        if token == "{":
            return self._recurrence()
        if token != "(":
            number = int(token)
            return lambda point: number
        values, names = [self.expression()], []
        while (token := self._take_token()) != ")":
            names.append(_OPERATIONS[token] if token in _OPERATIONS else self._unknown(token))
            values.append(self.expression())
        operations = list(zip(names, values[1:], strict=True))
        return lambda point: reduce(lambda so_far, step: step[0](so_far, step[1](point)), operations, values[0](point))

    def _recurrence(self) -> Value:
        start = self.expression()
        self._expect(",+,")
        step = self.expression()
        self._expect("}")
        loop = self._take_token()[2:-1]
        return lambda point: start(point) + point[loop] * step(point)

    def _expect(self, wanted: str) -> None:
        if (token := self._take_token()) != wanted:
            self._unknown(token)

    def _unknown(self, token: str) -> Callable[[int, int], int]:
        raise ValueError(token)
