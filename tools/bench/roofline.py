"""The roofline of the machine: upper bounds by thread count, type and working-set size."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple


class Point(NamedTuple):
    """Bytes per second of the triad and of reads only, for a total working set of `size` bytes."""

    size: int
    triad: float
    reads: float


def settled(points: Sequence[Point], fewer: Sequence[Point] = ()) -> list[Point]:
    """Remove noise of a busy machine: a smaller set is at least as fast as a larger one, and more threads move at least
    as much as fewer."""
    found: list[Point] = []
    rest = {point.size: point for point in fewer}
    for point in sorted(points, reverse=True):
        known = [point, *found[-1:], *([rest[point.size]] if point.size in rest else [])]
        found.append(Point(point.size, max(p.triad for p in known), max(p.reads for p in known)))
    return found[::-1]


def as_peak(dtype: str) -> str:
    """The type whose peak a type has: the instructions for bytes take both signs."""
    return "int8" if dtype == "uint8" else dtype


class Roofs(NamedTuple):
    """Operations per second by (type, threads); memory rates by threads."""

    peaks: Mapping[tuple[str, int], float]
    curves: Mapping[int, Sequence[Point]]

    def peak(self, dtype: str, threads: int) -> float:
        """Return operations per second; infinite where not measured, so that only memory bounds."""
        return self.peaks.get((as_peak(dtype), threads), math.inf)

    def bandwidth(self, size: float, threads: int) -> Point:
        """Return the rates for a working set of that size, interpolated on a logarithmic scale."""
        points = sorted(self.curves[threads])
        size = min(max(size, points[0].size), points[-1].size)
        for low, high in itertools.pairwise(points):
            if size <= high.size:
                share = math.log(size / low.size) / math.log(high.size / low.size)
                triad, reads = (a ** (1 - share) * b**share for a, b in zip(low[1:], high[1:], strict=False))
                return Point(int(size), triad, reads)
        return points[-1]

    def memory_seconds(self, read: float, written: float, threads: int) -> float:
        """Return the minimum time to read and write that many bytes.

        The cost of a write is the excess of the triad, which reads two bytes per byte written, over reads only.
        """
        at = self.bandwidth(read + written, threads)
        write = max(3 / at.triad - 2 / at.reads, 0.0)
        return read / at.reads + written * write

    def least_seconds(self, operations: float, read: float, written: float, dtype: str, threads: int) -> float:
        """Return the maximum of the minimum times for arithmetic and for memory."""
        return max(operations / self.peak(dtype, threads), self.memory_seconds(read, written, threads))
