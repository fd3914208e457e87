"""Loops whose iterations run at the same time must stay free of each other, whatever a step does around them."""

from __future__ import annotations

from mlir import ir

from tir_mlir.dialect.analysis import dependences
from tir_mlir.dialect.diagnostics import Counterexample, NotProvable
from tir_mlir.dialect.ir import Loop, frozen, is_loop, walk
from tir_mlir.passes.schedule.registry import refuse

# these leave every access where it is, or have asked already
_MARKS = ("annotate", "unannotate", "set_scope", "unroll", "parallel", "vectorize", "bind")


def check_concurrency(step: str, before: ir.Module, after: ir.Module) -> None:
    """Refuse a step after which iterations of a parallel, vectorized or thread loop depend on each other.

    A step may put a block under such a loop, take away the reader for which each iteration had its own copy of a
    buffer, or bring the loop further out. What was so before the step is not its fault.
    """
    if step in _MARKS:
        return
    with frozen():
        clashes = {loop.id: (loop, clash) for loop in _concurrent(after) if (clash := _clash(loop)) is not None}
    if not clashes:
        return
    with frozen():
        known = {loop.id for loop in _concurrent(before) if loop.id in clashes and _clash(loop) is not None}
    for number, (loop, clash) in clashes.items():
        if number not in known:
            refuse(
                loop,
                f"the iterations of the {loop.kind} loop {loop.name} would depend on each other: {clash}",
                counterexample=clash if isinstance(clash, Counterexample) else None,
                fix=f"leave loop {loop.name} serial until this step is done, or unroll it",
            )


def _concurrent(module: ir.Module) -> list[Loop]:
    found = [Loop(op) for op in walk.ops(module.operation) if is_loop(op)]
    return [loop for loop in found if loop.kind not in ("serial", "unrolled")]


def _clash(loop: Loop) -> Counterexample | str | None:
    try:
        return dependences.carried(loop)
    except NotProvable as error:
        return str(error)
