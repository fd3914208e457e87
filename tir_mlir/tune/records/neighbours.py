"""Records of the same operator at other sizes, nearest first: where a search starts."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from tir_mlir.tune.records.record import Record


def by_merit(record: Record) -> tuple[bool, bool, float]:
    """The sort key of records: usable, then verified, then the fastest."""
    return not record.usable, not record.verified, record.time


def distance(sizes: Sequence[int], others: Sequence[int]) -> float:
    """The sum of |log2| of the ratios of extents; infinite where their number differs."""
    if len(sizes) != len(others):
        return math.inf
    return sum(abs(math.log2(max(1, a) / max(1, b))) for a, b in zip(sizes, others, strict=True))


def chosen(sizes: Sequence[int], programs: Iterable[Iterator[Record]], count: int) -> list[Record]:
    """At most `count` records of other programs, no two with the same decisions; each program: its records, best first.

        [a1 a2 a3], [b1 b2], with b nearer to `sizes`  ->  [b1, a1, b2, a2, a3]

    Only what is needed is read of each program.
    """
    heads = [(distance(sizes, first.sizes), first, rest) for rest in programs if (first := next(rest, None))]
    rows = [chain([first], rest) for _, first, rest in sorted(heads, key=lambda head: head[0])]
    kept: list[Record] = []
    while rows and len(kept) < count:
        for row in list(rows):
            fresh = next((r for r in row if all(r.decisions != other.decisions for other in kept)), None)
            if fresh is None:
                rows.remove(row)
            elif len(kept) < count:
                kept.append(fresh)
    return kept
