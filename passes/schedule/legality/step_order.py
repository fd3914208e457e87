"""Check after each step that accesses are in order: no parallel, vectorized or thread-bound loop carries a dependence,
and parameters that may alias (`tir.noalias = False`) are accessed in the order of before."""

from __future__ import annotations

from collections.abc import Sequence

from mlir import ir

from tir_mlir.dialect.analysis import alias_text, aliased_pair, dependences, has_distinct_buffers
from tir_mlir.dialect.diagnostics import Counterexample, NotProvable
from tir_mlir.dialect.incremental import ChangedNests
from tir_mlir.dialect.ir import Loop, frozen, funcs, is_loop, walk
from tir_mlir.passes.schedule.registry import PRIMITIVES, refuse

# these move no access, or check the loop themselves
_MARKS = ("annotate", "unannotate", "set_scope", "unroll", "parallel", "vectorize", "bind")


def check_concurrency(
    step: str, old_module: ir.Module, new_module: ir.Module, changed: ChangedNests | None = None
) -> None:
    """Refuse a step that introduces a dependence between iterations of a parallel, vectorized or thread-bound loop.

    A step can do so by moving a block under such a loop, by removing the reader that kept a buffer private to an
    iteration, or by moving the loop outwards. Dependences that existed before the step are ignored. `changed`: what the
    step changed, if known; other loops are as before.
    """
    if step in _MARKS:
        return
    with frozen():
        roots = [new_module.operation] if changed is None else changed.affected
        clashes = {loop.id: (loop, clash) for loop in _concurrent(roots) if (clash := _clash(loop)) is not None}
    if not clashes:
        return
    with frozen():
        dependent_before = {
            loop.id for loop in _concurrent([old_module.operation]) if loop.id in clashes and _clash(loop) is not None
        }
    for number, (loop, clash) in clashes.items():
        if number not in dependent_before:
            refuse(
                loop,
                f"the iterations of the {loop.kind} loop {loop.name} would depend on each other: {clash}",
                counterexample=clash if isinstance(clash, Counterexample) else None,
                fix=f"keep loop {loop.name} serial until after this step, or unroll it",
            )


def _concurrent(roots: Sequence[ir.Operation]) -> list[Loop]:
    loops = [Loop(op) for root in roots for op in walk.ops(root) if is_loop(op)]
    return [loop for loop in loops if loop.kind not in ("serial", "unrolled")]


def _clash(loop: Loop) -> Counterexample | str | None:
    try:
        return dependences.carried(loop)
    except NotProvable as error:
        return str(error)


def check_aliasing(step: str, old_module: ir.Module, new_module: ir.Module) -> None:
    """Refuse a step that may change the order of accesses to parameters that may be the same memory.

    The proofs of most primitives compare accesses to one buffer only. If a function accesses two parameters that may
    alias, one of them written, those primitives are not provable.
    """
    if PRIMITIVES[step].keeps_order:
        return
    old = {f.name: f for f in funcs(old_module)}
    for func in funcs(new_module):
        if has_distinct_buffers(func.op) or func.name not in old:
            continue
        pair = aliased_pair(old[func.name].op) or aliased_pair(func.op)
        if pair is not None and str(func.op) != str(old[func.name].op):
            refuse(
                None,
                f"{step} may change the order of accesses: {alias_text(func.op, pair)}",
                provable=False,
                fix="remove tir.noalias = False if calls never pass overlapping arrays",
            )
