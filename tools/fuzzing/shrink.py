"""Shrink a failing item: drop or lower its random numbers while it fails in the same way."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from fuzzing import tape
from fuzzing.items import Item, Outcome
from fuzzing.kinds import Kind
from fuzzing.pool import Pool
from fuzzing.tape import LAST, Part

Parts = list[Part]


def shrunk(failure: Outcome, kinds: Mapping[str, Kind], limit: float, seconds: float) -> Outcome:
    """Return the smallest item found within `seconds` that fails like `failure`; each candidate runs in another
    process."""
    with Pool(kinds, 1, limit) as pool:
        search = _Search(failure, pool, time.monotonic() + seconds)
        search.go()
        return search.best


class _Search:
    def __init__(self, failure: Outcome, pool: Pool, end: float):
        self.best = failure
        self.pool, self.end = pool, end
        self.parts = _trimmed(failure.played or self.drawn(failure.item))

    def drawn(self, item: Item) -> Parts:
        """Return the random numbers of an item that crashed before reporting them."""
        with tempfile.NamedTemporaryFile() as file:
            self.run(replace(item, journal=file.name))
            return tape.read(file.name)

    def run(self, item: Item) -> Outcome:
        (outcome,) = self.pool.run([item])
        return outcome

    @property
    def late(self) -> bool:
        return time.monotonic() > self.end

    def fails(self, parts: Sequence[Part]) -> bool:
        """Return whether an item made of these parts fails in the same way; if so, it becomes the best."""
        if self.late:
            return False
        outcome = self.run(replace(self.best.item, play=parts))
        if (outcome.verdict, outcome.word) != (self.best.verdict, self.best.word):
            return False
        self.parts = _trimmed(outcome.played or parts)
        self.best = replace(outcome, item=replace(outcome.item, play=self.parts))
        return True

    def go(self) -> None:
        """Drop, then lower, until nothing more succeeds."""
        before = None
        while before != self.parts and not self.late:
            before = self.parts
            self.fewer_parts()
            for at in range(len(self.parts) - 1, -1, -1):
                self.fewer_numbers(at)
            for at in range(len(self.parts) - 1, -1, -1):
                self.lower(at)

    def fewer_parts(self) -> None:
        for cut in _spans(len(self.parts)):
            if cut.start < len(self.parts) and cut.stop > 1:  # the first part is not a stage or step
                self.fails([p for n, p in enumerate(self.parts) if n not in cut or n == 0])

    def fewer_numbers(self, at: int) -> None:
        for cut in _spans(len(self.parts[at].drawn) if at < len(self.parts) else 0):
            if at < len(self.parts) and cut.start < len(self.parts[at].drawn):
                self.fails(self.with_part(at, [x for n, x in enumerate(self.parts[at].drawn) if n not in cut]))

    def lower(self, at: int) -> None:
        number = 0
        while at < len(self.parts) and number < len(self.parts[at].drawn):
            for lower in _lower(self.parts[at].drawn[number]):
                drawn = list(self.parts[at].drawn)
                drawn[number] = lower
                if self.fails(self.with_part(at, drawn)):
                    break
            number += 1

    def with_part(self, at: int, drawn: list[int | float]) -> Parts:
        return [*self.parts[:at], Part(self.parts[at].name, drawn), *self.parts[at + 1 :]]


def _trimmed(parts: Sequence[Part]) -> Parts:
    return [p.trimmed() for p in parts]


def _spans(count: int) -> Iterator[range]:
    """Yield the whole range, its halves, quarters and so on, from the end."""
    size = count
    while size:
        for start in range(count - size, -size, -size):
            yield range(max(start, 0), start + size)
        size //= 2


def _lower(value: int | float) -> list[int | float]:
    if isinstance(value, float):
        return [LAST] if value < LAST else []
    return list(dict.fromkeys(n for n in (0, value // 2, value - 1) if 0 <= n < value))
