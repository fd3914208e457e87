"""Which dimensions a view of a region keeps: one rule for the parser, accesses and types."""

from __future__ import annotations

from collections.abc import Sequence


def kept_dims(shape: Sequence[int | None], sizes: Sequence[int | None]) -> list[int] | None:
    """The dimensions of a region of `sizes` that a view of `shape` keeps: all but single points that the shape leaves
    out, matched from the last one on. None when it is no view of the region."""
    kept: list[int] = []
    for axis in reversed(range(len(sizes))):
        if len(kept) < len(shape) and sizes[axis] == shape[len(shape) - 1 - len(kept)]:
            kept.append(axis)
        elif sizes[axis] != 1:
            return None
    return kept[::-1] if len(kept) == len(shape) else None
