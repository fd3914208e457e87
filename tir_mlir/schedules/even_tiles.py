"""Equal tiles of an extent that may be symbolic."""

from __future__ import annotations

from math import ceil

LARGE = 1 << 20
"""The assumed value of a symbolic extent."""


def even_tile(extent: int, most: int, unit: int = 1, workers: int = 1) -> int:
    """A tile size (at most `most`, a multiple of `unit`) that cuts an extent into equal tiles, evenly over workers."""
    parts = ceil(extent / (most * workers)) * workers if extent < LARGE else 1
    step = ceil(extent / parts) if extent < LARGE else most
    return ceil(min(step, most) / unit) * unit
