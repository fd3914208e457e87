"""Loop nests: linearized index, guards around blocks, simplified bindings."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence

from mlir import ir

from tir_mlir.dialect.ir import Block, Constraint, Index, Loop, blocks_below, create, edit, is_block, walk
from tir_mlir.dialect.ir.op_views import AffineForOp, LoadOp, isa
from tir_mlir.dialect.presburger import fold_index, guards, has_division, intervals, sets, simplify_index


def linear_index(nest: Sequence[Loop], extents: Sequence[int | Index]) -> Index:
    """i_0 * (f1 * f2) + i_1 * f2 + i_2; all factors but the first are constant."""
    index = Index.from_value(nest[0].var)
    for loop, extent in zip(nest[1:], extents[1:], strict=True):
        index = index * extent + Index.from_value(loop.var)
    return index.simplify()


def guard_blocks(loop: Loop, bound: Index, but: Collection[int] = ()) -> None:
    """Guard every outermost block beneath a loop by `bound >= 0`, unless it is implied. but: the ids of blocks that
    get no guard.

    A body that loads outside its blocks (the bounds of a loop over data, a condition) gets one guard around all of it.
    """
    if any(isa(op, LoadOp) for op in walk.ops(loop.op, skip=is_block)):
        with create.at_end(loop.body):
            inner = create.guard([Constraint(bound)])
        edit.move_body(loop.body, inner.regions[0].blocks[0], until=inner)
        return
    for block_id in [b.id for b in blocks_below(loop.op) if b.id not in but]:
        block = Block(walk.op_with_id(loop.op, block_id))
        if intervals.at_least_zero(bound, intervals.enclosing_ranges(block.outermost)):
            continue
        guard = block.where
        if guard is not None:
            guards.rewrite(
                block, guard, guards.drop_implied_conditions(block, [*walk.constraints(guard), Constraint(bound)])
            )
            continue
        if sets.holds(sets.domain(block.op, extra=[bound]), bound):
            continue
        with ir.InsertionPoint(block.op), block.op.location:
            guard = create.where([Constraint(bound)])
        edit.move_before(block.op, list(guard.regions[0].blocks[0].operations)[-1])


def simplify_bindings(nest: Sequence[Loop], preserve_unit_iters: bool) -> None:
    """Simplify the bindings of the blocks, the bounds of the loops and the conditions beneath `nest`, given the ranges
    of the loops.

    With `preserve_unit_iters`, variables of unit loops remain in the expressions; without, those around the nest are
    replaced as well.
    """
    _simplify_bounds(nest[0])
    edit.fold_choices(nest[0].op)
    for block_id in [b.id for b in blocks_below(nest[0].op)]:
        block = Block(walk.op_with_id(nest[0].op, block_id))
        bindings = block.bindings
        if not bindings:
            continue
        loops = [] if preserve_unit_iters else walk.loops_above(block.op)
        units = {lp.var: lp.lower for lp in loops if lp.const_extent == 1}
        dom = None
        better = []
        for binding in bindings:
            binding = binding.substitute(units)
            if has_division(binding.expr):
                dom = dom or loop_domain(block, bindings, preserve_unit_iters)
                better.append(simplify_index(binding, dom))
            else:
                better.append(binding.simplify())
        if any(a.expr != b.expr or a.values != b.values for a, b in zip(better, bindings, strict=True)):
            edit.rebind(block.op, better)
        _simplify_guard(Block(walk.op_with_id(nest[0].op, block_id)), units)


def _simplify_bounds(outer: Loop) -> None:
    """Fold the bounds of the loops beneath a loop: with i_1 < 8, `range((i_0 * 8 + i_1) // 8)` is `range(i_0)`."""
    below = [Loop(op) for op in walk.ops(outer.op, skip=is_block) if op.name in AffineForOp.names and op != outer.op]
    for loop_id in [loop.id for loop in below if _folds(loop)]:
        loop = Loop(walk.op_with_id(outer.op, loop_id))
        box = intervals.enclosing_ranges(loop.op)
        lowers, uppers = ([fold_index(bound, box) for bound in side] for side in (loop.lowers, loop.uppers))
        edit.set_bounds(loop.op, _fold_bounds(lowers, max), _fold_bounds(uppers, min))


def _folds(loop: Loop) -> bool:
    bounds = (*loop.lowers, *loop.uppers)
    return len(bounds) > 2 or any(has_division(bound.expr) for bound in bounds)


def _fold_bounds(bounds: list[Index], which: Callable[[Iterable[int]], int]) -> list[Index]:
    """The one bound that counts if all are constants."""
    numbers = [n for n in (bound.as_constant() for bound in bounds) if n is not None]
    return [Index.constant(which(numbers))] if len(numbers) == len(bounds) else bounds


def _simplify_guard(block: Block, units: dict[ir.Value, Index]) -> None:
    guard = block.where
    if guard is None:
        return
    box = intervals.enclosing_ranges(block.outermost)
    old = walk.constraints(guard)
    new = [n for c in old if (n := replace_unit_loops(c, units, box)) is not None]
    if new != old:
        guards.rewrite(block, guard, new)


def replace_unit_loops(
    condition: Constraint, units: dict[ir.Value, Index], box: intervals.ValueRanges
) -> Constraint | None:
    """A condition with unit loops replaced by their value; None if it is then decided."""
    index = fold_index(condition.index.substitute(units).simplify(), box)
    number = index.as_constant()
    if number is None:
        return Constraint(index, condition.is_eq)
    return None if number == 0 or (number > 0 and not condition.is_eq) else condition


def loop_domain(block: Block, bindings: Sequence[Index], keep_units: bool) -> sets.Domain:
    """The ranges of the loops around a block. With `keep_units`, unit loops count as unbounded, so that their variables
    remain in expressions.
    """
    dom = sets.domain(block.op, extra=bindings, guards=False)
    if keep_units:
        for loop in walk.loops_above(block.op):
            if loop.const_extent == 1:
                dom.set = dom.set.drop_constraints_involving_dims(sets.dim_type.set, dom.index_of(loop.var), 1)
    return dom
