"""Which conditions of a guard say something."""

from __future__ import annotations

from collections.abc import Sequence

from mlir import ir

from tir_mlir.dialect import sets, walk
from tir_mlir.dialect.create import Constraint
from tir_mlir.dialect.errors import NotProvable
from tir_mlir.dialect.sets import question
from tir_mlir.dialect.views import Block, is_where


def needed(block: Block, guard: Sequence[Constraint]) -> list[Constraint]:
    """The conditions of a guard that the loops and the others do not imply; of two that imply each other the first."""
    dom = sets.domain(block.outermost, extra=[c.index for c in guard])
    kept = list(guard)
    for condition in reversed(guard):
        others = dom.set
        for other in kept:
            if other is not condition:
                others = others.intersect(sets.holding(dom, other))
        if others.is_subset(sets.holding(dom, condition)):
            kept.remove(condition)
    return kept


def has_guards(root: ir.Operation) -> bool:
    return any(is_where(op) for op in walk.ops(root))


def drop_implied(root: ir.Operation) -> None:
    """Take out of every guard what the loops and its other conditions imply; guards of which nothing is left go."""
    for op in [op for op in walk.ops(root) if is_where(op)]:
        block = walk.blocks_below(op, with_init=True)[0]
        old = walk.constraints(op)
        try:
            with question("which conditions of a guard are implied"):
                new = needed(block, old)
        except NotProvable:
            continue
        if not new:
            block.op.move_before(op)
            walk.erase(op)
        elif len(new) < len(old):
            walk.rebuild_guard(op, new)
