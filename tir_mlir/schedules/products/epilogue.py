"""Elementwise blocks that follow a product or a convolution, computed where its tiles are written."""

from __future__ import annotations

from typing import Any

from tir_mlir.schedule import Schedule
from tir_mlir.schedules.attempt import attempt
from tir_mlir.schedules.block_queries import block_info


def merge_epilogue(sch: Schedule, write_back: Any, epilogue: Any | None) -> bool:
    """Compute an elementwise block in the block that writes back accumulators. Returns whether that is legal.

    for i, j: C[i, j] = local[i, j]
    for i, j: D[i, j] = max(C[i, j] + bias[j], 0)   ->   for i, j: D[i, j] = max(local[i, j] + bias[j], 0)
    """
    if epilogue is None:
        return False

    def merged() -> bool:
        sch.reverse_compute_inline(epilogue)
        return block_info(sch, write_back) is not None

    return bool(attempt(sch, merged))


def place_epilogue(sch: Schedule, epilogue: Any | None, loop: Any) -> bool:
    """Compute an elementwise block, vectorized, at the end of each iteration of a loop. Returns whether that is legal.

    for j_0:                                       for j_0:
        for i, j_1: C[i, j] += ...           ->        for i, j_1: C[i, j] += ...
    for i, j: D[i, j] = max(C[i, j], 0)                for i, j_1: D[i, j] = max(C[i, j], 0)
    """
    if epilogue is None:
        return False

    def placed() -> bool:
        sch.reverse_compute_at(epilogue, loop, preserve_unit_loops=True)
        sch.vectorize(sch.get_loops(epilogue)[-1])
        return True

    return bool(attempt(sch, placed))
