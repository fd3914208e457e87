"""The roofs of the machine: what no program can exceed, by thread count, type, and size of what it touches."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple


class Point(NamedTuple):
    """Bytes a second of the triad and of reading alone, for arrays of that many bytes together."""

    size: int
    triad: float
    reads: float


def settled(points: Sequence[Point], fewer: Sequence[Point] = ()) -> list[Point]:
    """The same without what only a busy machine explains: a small set moves as fast as a large one at least, and many
    threads move as much as fewer at least."""
    found: list[Point] = []
    rest = {point.size: point for point in fewer}
    for point in sorted(points, reverse=True):
        known = [point, *found[-1:], *([rest[point.size]] if point.size in rest else [])]
        found.append(Point(point.size, max(p.triad for p in known), max(p.reads for p in known)))
    return found[::-1]


class Roofs(NamedTuple):
    """Operations a second by (type, threads); rates of memory by threads."""

    peaks: Mapping[tuple[str, int], float]
    curves: Mapping[int, Sequence[Point]]

    def peak(self, dtype: str, threads: int) -> float:
        """Operations a second; infinite where nothing was measured: then memory alone bounds."""
        return self.peaks.get((dtype, threads), math.inf)

    def bandwidth(self, size: float, threads: int) -> Point:
        """The rates for a working set of that size: between two measured ones, along the line of logarithms."""
        points = sorted(self.curves[threads])
        size = min(max(size, points[0].size), points[-1].size)
        for low, high in zip(points, points[1:]):
            if size <= high.size:
                share = math.log(size / low.size) / math.log(high.size / low.size)
                triad, reads = (a ** (1 - share) * b**share for a, b in zip(low[1:], high[1:]))
                return Point(int(size), triad, reads)
        return points[-1]

    def memory_seconds(self, read: float, written: float, threads: int) -> float:
        """The least time to read and write so many bytes.

        Writing costs what the triad, which reads two bytes for each that it writes, takes longer than reading alone.
        """
        at = self.bandwidth(read + written, threads)
        write = max(3 / at.triad - 2 / at.reads, 0.0)
        return read / at.reads + written * write

    def least_seconds(self, operations: float, read: float, written: float, dtype: str, threads: int) -> float:
        """The least time for the arithmetic and for the memory: the longer of the two."""
        return max(operations / self.peak(dtype, threads), self.memory_seconds(read, written, threads))
