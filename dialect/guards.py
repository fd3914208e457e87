"""Which conditions of a guard say something."""

from __future__ import annotations

from collections.abc import Sequence

from mlir import ir

from tir_mlir.dialect import constants, ranges, sets, walk
from tir_mlir.dialect.errors import NotProvable
from tir_mlir.dialect.folding import folded
from tir_mlir.dialect.index import Constraint
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
            kept = [c for c in kept if c is not condition]  # an equal one may be the one that is left
    return kept


def rewrite(block: Block, guard: ir.Operation, conditions: Sequence[Constraint]) -> None:
    """Give the guard of a block other conditions; without any it goes."""
    if conditions:
        constants.rebuild_guard(guard, conditions)
    else:
        block.op.move_before(guard)
        constants.erase(guard)


def has_guards(root: ir.Operation) -> bool:
    return any(is_where(op) for op in walk.ops(root))


def normalise(root: ir.Operation) -> None:
    """Write guards in one way: without what the loops and other conditions imply, expressions as short as can be.

    Guards of which nothing is left go.
    """
    for op in [op for op in walk.ops(root) if is_where(op)]:
        block = walk.blocks_below(op, with_init=True)[0]
        units = {lp.var: lp.lower for lp in walk.loops_above(op) if lp.const_extent == 1}
        box = ranges.around(op)
        found = [Constraint(folded(c.index.substitute(units).simplified(), box), c.is_eq) for c in walk.constraints(op)]
        try:
            with question("which conditions of a guard are implied"):
                found = needed(block, found)
        except NotProvable:
            pass
        rewrite(block, op, found)
