"""Check after each step that no parallel, vectorized or thread-bound loop carries a dependence."""

from __future__ import annotations

from collections.abc import Sequence

from mlir import ir

from tir_mlir.dialect.analysis import dependences
from tir_mlir.dialect.diagnostics import Counterexample, NotProvable
from tir_mlir.dialect.incremental import ChangedNests
from tir_mlir.dialect.ir import Loop, frozen, is_loop, walk
from tir_mlir.passes.schedule.registry import refuse

# these move no access, or check the loop themselves
_MARKS = ("annotate", "unannotate", "set_scope", "unroll", "parallel", "vectorize", "bind")


def check_concurrency(step: str, before: ir.Module, after: ir.Module, changed: ChangedNests | None = None) -> None:
    """Refuse a step that introduces a dependence between iterations of a parallel, vectorized or thread-bound loop.

    A step can do so by moving a block under such a loop, by removing the reader that kept a buffer private to an
    iteration, or by moving the loop outwards. Dependences that existed before the step are ignored. `changed`: what the
    step changed, if known; other loops are as before.
    """
    if step in _MARKS:
        return
    with frozen():
        roots = [after.operation] if changed is None else changed.affected
        clashes = {loop.id: (loop, clash) for loop in _concurrent(roots) if (clash := _clash(loop)) is not None}
    if not clashes:
        return
    with frozen():
        known = {loop.id for loop in _concurrent([before.operation]) if loop.id in clashes and _clash(loop) is not None}
    for number, (loop, clash) in clashes.items():
        if number not in known:
            refuse(
                loop,
                f"the iterations of the {loop.kind} loop {loop.name} would depend on each other: {clash}",
                counterexample=clash if isinstance(clash, Counterexample) else None,
                fix=f"keep loop {loop.name} serial until after this step, or unroll it",
            )


def _concurrent(roots: Sequence[ir.Operation]) -> list[Loop]:
    found = [Loop(op) for root in roots for op in walk.ops(root) if is_loop(op)]
    return [loop for loop in found if loop.kind not in ("serial", "unrolled")]


def _clash(loop: Loop) -> Counterexample | str | None:
    try:
        return dependences.carried(loop)
    except NotProvable as error:
        return str(error)
