"""The axes of a row as one loop."""

from __future__ import annotations

from typing import Any

from tir_mlir.schedule import Schedule
from tir_mlir.schedules.attempt import attempt
from tir_mlir.schedules.block_queries import block_info, iters


def fused_row(sch: Schedule, block: Any, loops: list[Any]) -> Any:
    """Fuse the loops along a row, and initialize a reduction before; the last of the loops if that is refused.

    for j, k: S[i] += A[i, j, k]   ->   S[i] = 0   ;   for j_k: S[i] += A[i, j_k // K, j_k % K]
    """

    def steps() -> Any:
        fused = sch.fuse(*loops)
        if iters(block_info(sch, block), "R"):
            sch.decompose_reduction(block, fused)
        return fused

    return attempt(sch, steps) or loops[-1]
