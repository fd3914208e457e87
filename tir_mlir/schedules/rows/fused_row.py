"""The axes of a row as one loop."""

from __future__ import annotations

from collections.abc import Sequence

from tir_mlir.schedule import BlockHandle, LoopHandle, Schedule
from tir_mlir.schedule.info import BlockInfo
from tir_mlir.schedules.block_queries import block_info, extents, is_contiguous, iters
from tir_mlir.schedules.steps import attempt

VECTORS = 8
"""The number of vectors from which on a row of one axis is long enough."""
FUSED = 2
"""The number of axes that are fused."""


def pays(info: BlockInfo, axes: list[str], lanes: int) -> bool:
    """Whether to fuse the axes of a row: the innermost is short and does not fill its vectors, and the accesses remain
    contiguous.

    axes: iters of a block, outer to inner. (100, 3): yes; (20, 24): yes; (20, 32): no, for 16 lanes.
    """
    axis_extents = extents(info)
    inner = axis_extents[axes[-1]]
    if inner is None or inner % lanes == 0 or inner >= VECTORS * lanes:
        return False
    row = set(axes)
    regions = [r for r in (*info.reads, *info.writes) if any(row.intersection(a) for a in r.axes)]
    return all([list(a) for a in r.axes[-len(axes) :]] == [[a] for a in axes] for r in regions) and all(
        is_contiguous(r, axis_extents, axes) for r in regions
    )


def fused_row(sch: Schedule, block: BlockHandle, loops: Sequence[LoopHandle]) -> LoopHandle:
    """Fuse the innermost two loops along a row, and initialize a reduction before all of them; the last of the loops if
    that is refused. Addresses of three axes as one are not seen to be adjacent, and such a loop runs serially.

    for j, k: S[i] += A[i, j, k]   ->   S[i] = 0   ;   for j_k: S[i] += A[i, j_k // K, j_k % K]
    """

    def steps() -> LoopHandle:
        *outer, _, _ = loops
        fused = sch.fuse(*loops[-FUSED:])
        if iters(block_info(sch, block), "R"):
            sch.decompose_reduction(block, [*outer, fused][0])
        return fused

    return attempt(sch, steps) or loops[-1]
