"""enter_postproc: a mark in the trace."""

from __future__ import annotations

from tir_mlir.passes.schedule.registry import primitive


@primitive("enter_postproc", pure=True)
def enter_postproc() -> None:
    """Mark the place in the trace from which on steps belong to post-processing.

    The program stays as it is. `trace.simplified(remove_postproc=True)` and its like leave out this step and all after.
    """
