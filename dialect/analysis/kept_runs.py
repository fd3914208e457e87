"""Match the body of a function after a step with that before, by the signatures of a few ops.

What was not edited keeps its order, and none of it is lost. So where two ops are as far apart as before, all between
them is as before.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

from mlir import ir

from tir_mlir.dialect.ir import FunctionContents, Run, gaps, signature


def kept_runs(contents: FunctionContents, edited: Sequence[int], body: ir.Block) -> list[Run] | None:
    """The ops that are as before in a body after a step; None if that is not clear.

    `edited`: the places before the step of the ops that were edited, moved or erased, in order. An op without a
    signature between two others that were moved apart may be left out.
    """
    matcher = _Matcher(contents, body)
    segments = gaps([(n, n + 1) for n in edited], len(contents.body))
    return matcher.runs if all(matcher.match(start, end) for start, end in segments) else None


class _Matcher:
    def __init__(self, contents: FunctionContents, body: ir.Block):
        self.contents = contents
        self.listed = body.operations
        self.total = len(self.listed)
        self.at = 0  # the first place after all runs
        self.runs: list[Run] = []

    def match(self, start: int, end: int) -> bool:
        """Find the ops at some places before the step; they are in order, but others may be between them."""
        while start < end:
            anchor = next((n for n in range(start, end) if self.contents.has_signature(n)), None)
            if anchor is None:
                return True
            place = self._find(anchor, self.at + anchor - start)
            if place is None:
                return False
            if place - self.at == anchor - start:
                anchor, place = start, self.at  # as many as were there, so none is between them
            last = self._last(anchor, end, place - anchor)
            self.runs.append(Run(anchor, place, last + 1 - anchor))
            start, self.at = last + 1, last + 1 - anchor + place
        return True

    def _find(self, old: int, guess: int) -> int | None:
        """The place of an op now, behind all runs."""
        if self._is_at(old, guess):
            return guess
        return next((n for n in range(self.at, self.total) if self._is_at(old, n)), None)

    def _is_at(self, old: int, place: int) -> bool:
        wanted = self.contents.body[old].signature
        return place < self.total and signature(self.listed[place].operation) == wanted

    def _last(self, first: int, end: int, shift: int) -> int:
        """The last op before `end` that, like all from `first` on, moved by `shift`."""
        low, high, probe = first, end, end - 1
        while (place := self._near(low, probe, high)) is not None:
            if self._is_at(place, place + shift):
                low = place
            else:
                high = place
            probe = (low + high) // 2
        return low

    def _near(self, low: int, probe: int, high: int) -> int | None:
        """A place between `low` and `high` whose op has a signature, as near to `probe` as is found soon."""
        places = chain(range(probe, low, -1), range(max(probe, low) + 1, high))
        return next((n for n in places if self.contents.has_signature(n)), None)
