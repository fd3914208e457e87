"""Where the elements of a tile are in the other iterations of a loop."""

from __future__ import annotations

from dataclasses import dataclass

import islpy as isl

from tir_mlir.dialect.presburger import dim_type
from tir_mlir.visual.tile_boxes import AccessTile, hull_of, tile_of

MOST_SHAPES = 12
"""Tiles that change their shape are known for this many iterations."""


@dataclass(frozen=True)
class Motion:
    """Tiles by iteration: those from `first` to `last` are each `step` away from the one before, in elements. Without a
    step, the shape changes, and `shapes` has the tiles of some iterations.
    """

    first: int
    last: int
    step: tuple[int, ...] | None
    shapes: tuple[tuple[int, AccessTile], ...] = ()


def motion(elements: isl.Map, tile: isl.Set, first: int) -> Motion:
    """The motion of a tile. elements: by iteration. tile: those of the first iteration."""
    last = elements.domain().dim_max_val(0).to_python()
    if last == first:
        return Motion(first, last, (0,) * tile.dim(dim_type.set))
    step = _step(elements, tile, first, last)
    if step is not None:
        return Motion(first, last, step)
    count = last - first + 1
    chosen = sorted({first + n * (count - 1) // (MOST_SHAPES - 1) for n in range(MOST_SHAPES)})
    sets = ((n, elements.fix_val(dim_type.in_, 0, isl.Val(n)).range()) for n in chosen)
    return Motion(first, last, None, tuple((n, tile_of(s.coalesce())) for n, s in sets if not s.is_empty()))


def _step(elements: isl.Map, tile: isl.Set, first: int, last: int) -> tuple[int, ...] | None:
    """How far the tile moves from one iteration to the next, if it does nothing else: proved for all of them."""
    second = elements.fix_val(dim_type.in_, 0, isl.Val(first + 1)).range()
    if second.is_empty():
        return None
    step = tuple(b[0] - a[0] for a, b in zip(hull_of(tile), hull_of(second), strict=True))
    names = [f"e{n}" for n in range(len(step))]
    moved = ", ".join(["i", *(f"{name} + {by} * (i - {first})" for name, by in zip(names, step, strict=True))])
    everywhere = isl.Map(f"{{ [{', '.join(['i', *names])}] -> [{moved}] }}")
    iterations = isl.Set(f"{{ [i] : {first} <= i <= {last} }}")
    return step if _points(elements).is_equal(iterations.flat_product(_plain(tile)).apply(everywhere)) else None


def _points(elements: isl.Map) -> isl.Set:
    return _plain(elements.wrap().flatten())


def _plain(points: isl.Set) -> isl.Set:
    """Without the name of the space."""
    return points.reset_tuple_id()
