"""Sets of elements as boxes to draw."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import islpy as isl

from tir_mlir.dialect.presburger import dim_type

Box = tuple[tuple[int, int], ...]  # (first, last) of each dimension
MOST_POINTS = 4096  # sets with more points that are not boxes are drawn as their hull


@dataclass(frozen=True)
class AccessTile:
    """Boxes that cover a set exactly, its bounding box, and its number of elements."""

    boxes: tuple[Box, ...]
    hull: Box
    count: int


def tile_of(points: isl.Set) -> AccessTile:
    """The boxes of a set that is not empty."""
    count, hull = points.count_val().to_python(), hull_of(points)
    return AccessTile(_boxes(points, hull, count), hull, count)


def hull_of(points: isl.Set) -> Box:
    ends = []
    for d in range(points.dim(dim_type.set)):
        low, high = points.dim_min_val(d), points.dim_max_val(d)
        ends.append((low.to_python(), high.to_python()))
    return tuple(ends)


def volume(box: Box) -> int:
    result = 1
    for low, high in box:
        result *= high - low + 1
    return result


def _boxes(points: isl.Set, hull: Box, count: int) -> tuple[Box, ...]:
    """Cover a set exactly by boxes: by its hull if that is full, else by merged runs of points."""
    if count == volume(hull) or count > MOST_POINTS:
        return (hull,)
    coordinates: list[tuple[int, ...]] = []

    def note(point: isl.Point) -> None:
        coordinates.append(tuple(point.get_coordinate_val(dim_type.set, d).to_python() for d in range(len(hull))))

    points.foreach_point(note)
    return _merge_rows(_runs(sorted(coordinates)))


def _runs(points: Sequence[tuple[int, ...]]) -> list[Box]:
    """Merge adjacent points along the last dimension."""
    runs: list[list[tuple[int, int]]] = []
    for point in points:
        last = runs[-1] if runs else None
        if (
            last
            and all(p == low for p, (low, _) in zip(point[:-1], last, strict=False))
            and last[-1][1] == point[-1] - 1
        ):
            last[-1] = (last[-1][0], point[-1])
        else:
            runs.append([(p, p) for p in point])
    return [tuple(run) for run in runs]


def _merge_rows(runs: Sequence[Box]) -> tuple[Box, ...]:
    """Merge equal runs of adjacent rows."""
    if not runs or len(runs[0]) < 2:
        return tuple(runs)
    done: list[list[tuple[int, int]]] = []
    for run in runs:
        for box in reversed(done):
            grows = box[-2][1] == run[-2][0] - 1 and box[-1] == run[-1]
            if grows and all(a == b for a, b in zip(box[:-2], run[:-2], strict=True)):
                box[-2] = (box[-2][0], run[-2][1])
                break
        else:
            done.append(list(run))
    return tuple(tuple(box) for box in done)
