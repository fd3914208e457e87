"""Softmax at the speed of the CPU."""

from __future__ import annotations

from typing import Any

from tir_mlir.schedule import Schedule
from tir_mlir.schedules.rowwise import rowwise
from tir_mlir.target import Target


def softmax(sch: Schedule, block: Any, target: Target | None = None, threads: int | None = None) -> None:
    """Schedule a softmax, or anything that divides, subtracts or scales what it reads by reductions along its rows.

    `block` is the last one; maximum, exponentials and sum are found from it. As `rowwise` in everything.
    """
    rowwise(sch, block, target, threads)
