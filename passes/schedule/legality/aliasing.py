"""Check after each step on a function whose parameters may alias (`tir.noalias = False`) that it keeps their order."""

from __future__ import annotations

from mlir import ir

from tir_mlir.dialect.analysis import alias_text, aliased_pair, has_distinct_buffers
from tir_mlir.dialect.ir import funcs
from tir_mlir.passes.schedule.registry import PRIMITIVES, refuse


def check_aliasing(step: str, before: ir.Module, after: ir.Module) -> None:
    """Refuse a step that may change the order of accesses to parameters that may be the same memory.

    The proofs of most primitives compare accesses to one buffer only. If a function accesses two parameters that may
    alias, one of them written, those primitives are not provable.
    """
    if PRIMITIVES[step].keeps_order:
        return
    old = {f.name: f for f in funcs(before)}
    for func in funcs(after):
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
