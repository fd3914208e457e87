"""Sums of products in parts (split-k), for products with few tiles and many terms."""

from __future__ import annotations

from tir_mlir.schedule import BlockHandle, Schedule
from tir_mlir.schedules.block_queries import block_info, loops_by_iter
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


def split_sums(sch: Schedule, block: BlockHandle, axes: ProductAxes, parts: int) -> BlockHandle:
    """Compute parts of sums side by side, and add them. Returns the block of the parts.

        for i, j, k: C[i, j] += A[i, k] * B[k, j]   ->   for p, i, j, k: C_rf[p, i, j] += A[i, p * K + k] * B[..]
                                                         for p, i, j: C[i, j] += C_rf[p, i, j]

    Sums of floats are added in another order, which their reduce iter allows.
    """
    outer, _ = sch.split(loops_by_iter(sch, block)[axes.sums[0]], [parts, None])
    part = sch.rfactor(outer, 0)
    loops = loops_by_iter(sch, part)
    sch.reorder(*(loops[it.name] for it in block_info(sch, part).iter_vars))
    return part
