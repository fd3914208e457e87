"""Sums of products in parts (split-k), for products with few tiles and many terms."""

from __future__ import annotations

from tir_mlir.schedules.gpu.product_axes import ProductAxes

TERMS = 256
"""The least number of terms of a part: fewer do not pay for the sums of the parts, which are written and read again."""


def parts_of(axes: ProductAxes, blocks: int, processors: int) -> int:
    """The parts of the first reduce iter of a product whose tiles are so many blocks: all of one length, and enough for
    all processors."""
    first = axes.sizes[axes.sums[0]]
    if first is None or 2 * blocks > processors:
        return 1
    terms = axes.extent(axes.sums)
    most = min(processors // blocks, terms // TERMS)
    return max((n for n in range(1, most + 1) if first % n == 0), default=1)
