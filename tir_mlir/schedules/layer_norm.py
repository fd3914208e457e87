"""Layer normalisation at the speed of the CPU."""

from __future__ import annotations

from typing import Any

from tir_mlir.schedule import Schedule
from tir_mlir.schedules.rowwise import rowwise
from tir_mlir.target import Target


def layer_norm(sch: Schedule, block: Any, target: Target | None = None, threads: int | None = None) -> None:
    """Schedule a layer norm, RMS norm, group norm, ...: rows that are scaled by their own mean and spread.

    `block` is the last one; the sums are found from it. As `rowwise` in everything.
    """
    rowwise(sch, block, target, threads)
