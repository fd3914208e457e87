"""split: one loop becomes several."""

from __future__ import annotations

import math
from collections.abc import Sequence

from mlir import ir

from tir_mlir.dialect import create, from_isl, guards, ranges, sets, walk
from tir_mlir.dialect.create import Constraint
from tir_mlir.dialect.folding import folded
from tir_mlir.dialect.index import Index
from tir_mlir.dialect.size_conditions import only_where, sizes_without
from tir_mlir.dialect.views import Block, Loop
from tir_mlir.dialect.walk import blocks_below
from tir_mlir.passes.schedule.registry import check, primitive, refuse
from tir_mlir.passes.schedule.ways_out import IN_BLOCK, ONE_EXTENT, from_zero


@primitive("split")
def split(
    loop: Loop, factors: list[int | None], preserve_unit_iters: bool = True, disable_predication: bool = False
) -> list[Loop]:
    """Split a loop into nested ones.

        for i in range(n):              for i_0, i_1 in T.grid(ceildiv(n, f), f):
            body(i)             ->          body(i_0 * f + i_1)        # where i_0 * f + i_1 < n

    Every iteration of every block still runs once, in the same order; the guard appears only where factors do not
    divide. One factor may be None: it is inferred. The new loops are serial.

    Requires: the loop starts at 0, has no annotation and no thread binding; factors are positive and their product
    reaches the extent. `disable_predication` leaves the guard out, and so needs factors that divide.
    """
    check_plain(loop, "split")
    check_from_zero(loop, "split")
    extents = infer_factors(loop, factors)
    needs_guard = _needs_guard(loop, extents)
    if needs_guard and disable_predication:
        refuse(
            loop,
            f"the factors {list(factors)} do not divide the extent of loop {loop.name}, so a guard is needed"
            f"{_unless_divided(loop, extents)}; drop disable_predication",
        )

    upper, name = loop.upper, loop.name
    with ir.InsertionPoint(loop.op), loop.op.location:
        nest = _nest(name, extents)
    index = linear_index(nest, extents)
    walk.move_body(loop.body, nest[-1].body)
    bound = upper - index - 1
    walk.substitute({loop.var: index})
    walk.erase(loop.op)
    if needs_guard:
        guard_blocks(nest[-1], bound)
    resimplify(nest, preserve_unit_iters)
    return nest


def _needs_guard(loop: Loop, extents: Sequence[int | Index]) -> bool:
    """Whether the new loops run more than the old one. Refused: fewer, or more where a guard cannot be."""
    total = math.prod(e for e in extents if isinstance(e, int)) if all(isinstance(e, int) for e in extents) else None
    exact = total is not None and loop.const_extent == total
    if total is not None and total >= 2**63:
        refuse(loop, f"the factors {list(extents)} multiply to {total}, which does not fit an index (64 bits)")
    if total is not None and loop.const_extent is not None and total < loop.const_extent:
        refuse(
            loop,
            f"the factors {list(extents)} multiply to {total}, less than the extent {loop.const_extent} of loop"
            f" {loop.name}; iterations would be lost",
            fix=f"leave one factor open: {[None, *list(extents)[1:]]} infers it",
        )
    if total is not None and loop.const_extent is None:
        _check_reached(loop, total)
    needs_guard = not exact and not _divides(loop, extents)
    if needs_guard and not _only_blocks(loop):
        refuse(
            loop,
            f"the factors do not divide the extent of loop {loop.name}{_unless_divided(loop, extents)}; its body holds"
            " statements outside any block, which a guard cannot protect",
            fix=IN_BLOCK
            if loop.const_extent is None
            else f"take factors that divide {loop.const_extent}; or, {IN_BLOCK}",
        )
    return needs_guard


def check_plain(loop: Loop, what: str) -> None:
    """Refuse a loop with annotations or a thread binding, which a rewrite of the loop would lose."""
    check(
        not loop.annotations,
        loop,
        f"loop {loop.name} carries annotations {sorted(loop.annotations)}, which {what} would lose; unannotate it"
        " first",
    )
    check(not loop.is_thread, loop, f"loop {loop.name} is bound to {loop.kind}; {what} it before binding")


def check_from_zero(loop: Loop, what: str) -> None:
    """Refuse a loop that does not run from 0 to one extent."""
    start = loop.lower.as_constant()
    shown = "a variable" if start is None else start
    check(
        start == 0, loop, f"loop {loop.name} starts at {shown}; {what} needs a loop that starts at 0", from_zero(loop)
    )
    check(
        len(loop.uppers) == 1,
        loop,
        f"loop {loop.name} ends at the least of several bounds; {what} needs one extent",
        ONE_EXTENT,
    )


def infer_factors(loop: Loop, factors: Sequence[int | None]) -> list[int | Index]:
    """The factors with the None filled in: the extent over the product of the others, rounded up."""
    check(len(factors) > 0, loop, "split needs at least one factor", "[None, 16] splits by 16, whatever the extent")
    unknown = [n for n, f in enumerate(factors) if f is None]
    check(
        len(unknown) <= 1,
        loop,
        f"split can infer one factor; {len(unknown)} of {list(factors)} are None",
        "give all factors but one",
    )
    for factor in factors:
        if factor is not None and factor <= 0:
            refuse(loop, f"the factor {factor} is not positive; use None to infer a factor")
    if not unknown:
        return [f for f in factors if f is not None]
    rest = math.prod(f for f in factors if f is not None)
    inferred = folded(loop.extent.ceildiv(rest).simplified(), ranges.around(loop.op))
    number = inferred.as_constant()
    known = inferred if number is None else number
    return [known if f is None else f for f in factors]


def _check_reached(loop: Loop, total: int) -> None:
    """Refuse factors whose product a symbolic extent may exceed."""
    dom = sets.domain(loop.op, extra=[loop.upper])
    enough = Constraint(Index.constant(total) - loop.upper)
    with sets.question(f"whether {total} iterations are enough"):
        longer = dom.set.subtract(sets.holding(dom, enough))
    if not longer.is_empty():
        refuse(
            loop,
            f"loop {loop.name} has a symbolic extent that {total} iterations need not reach"
            f"{only_where(longer, loop.op)}; give None for one factor",
        )


def _product(extents: Sequence[int | Index]) -> Index:
    product = Index.constant(1)
    for extent in extents:
        product = product * extent if isinstance(extent, int) else Index.wrap(extent) * product
    return product


def _divides(loop: Loop, extents: Sequence[int | Index]) -> bool:
    """Whether the new loops run exactly the old iterations, whatever the sizes."""
    beyond = _product(extents) - loop.extent
    if beyond.simplified().as_constant() == 0:
        return True
    return sets.holds(sets.domain(loop.op, extra=[loop.upper]), -beyond)


def _unless_divided(loop: Loop, extents: Sequence[int | Index]) -> str:
    """The sizes at which the new loops run exactly the old iterations, where there are such."""
    beyond = Constraint(_product(extents) - loop.extent - 1)
    dom = sets.domain(loop.op, extra=[loop.upper])
    unless = sizes_without(dom.set.intersect(sets.holding(dom, beyond)), loop.op)
    return f" (unless {unless})" if unless else ""


def _only_blocks(loop: Loop) -> bool:
    """Whether every effect beneath a loop happens in a block."""
    held = walk.ops(loop.op, skip=lambda op: op.name == "affine.parallel")
    return not any("store" in op.name or op.name == "func.call" for op in held)


def _nest(name: str, extents: Sequence[int | Index]) -> list[Loop]:
    """A perfect nest of serial loops name_0, name_1, ... at the insertion point."""
    nest: list[Loop] = []
    for number, extent in enumerate(extents):
        if nest:
            with create.at_end(nest[-1].body):
                nest.append(create.loop(f"{name}_{number}", 0, extent))
        else:
            nest.append(create.loop(f"{name}_{number}", 0, extent))
    return nest


def linear_index(nest: Sequence[Loop], extents: Sequence[int | Index]) -> Index:
    """i_0 * (f1 * f2) + i_1 * f2 + i_2."""
    index = Index.of(nest[0].var)
    for loop, extent in zip(nest[1:], extents[1:], strict=True):
        text = "only the outermost factor may be inferred from a symbolic extent"
        check(isinstance(extent, int), loop, text, "make the first factor None, and give the others")
        index = index * extent + Index.of(loop.var)  # type: ignore[operator]
    return index.simplified()


def guard_blocks(loop: Loop, bound: Index) -> None:
    """Add `bound >= 0` to the guard of every outermost block beneath a loop, where nothing promises it."""
    for block_id in [b.id for b in blocks_below(loop.op)]:
        block = Block(walk.find(loop.op, block_id))  # type: ignore[arg-type]
        if ranges.at_least_zero(bound, ranges.around(block.outermost)):
            continue
        guard = block.where
        if guard is not None:
            guards.rewrite(block, guard, guards.needed(block, [*walk.constraints(guard), Constraint(bound)]))
            continue
        if sets.holds(sets.domain(block.op, extra=[bound]), bound):
            continue
        with ir.InsertionPoint(block.op), block.op.location:
            guard = create.where([Constraint(bound)])
        block.op.move_before(list(guard.regions[0].blocks[0].operations)[-1])


def resimplify(nest: Sequence[Loop], preserve_unit_iters: bool) -> None:
    """Simplify the bindings of the blocks beneath `nest` under the ranges of the loops.

    Loops of extent 1 stay in the expressions unless `preserve_unit_iters` is False; then those around the nest go, too.
    """
    for block_id in [b.id for b in blocks_below(nest[0].op)]:
        block = Block(walk.find(nest[0].op, block_id))  # type: ignore[arg-type]
        bindings = block.bindings
        if not bindings:
            continue
        around = [] if preserve_unit_iters else walk.loops_above(block.op)
        units = {lp.var: lp.lower for lp in around if lp.const_extent == 1}
        dom = None
        better = []
        for binding in bindings:
            binding = binding.substitute(units)
            if from_isl.has_division(binding.expr):
                dom = dom or _loop_domain(block, bindings, preserve_unit_iters)
                better.append(from_isl.simplify(binding, dom))
            else:
                better.append(binding.simplified())
        if any(a.expr != b.expr or a.values != b.values for a, b in zip(better, bindings, strict=True)):
            walk.rebind(block.op, better)
        _simplify_guard(Block(walk.find(nest[0].op, block_id)), units)  # type: ignore[arg-type]


def _simplify_guard(block: Block, units: dict[ir.Value, Index]) -> None:
    guard = block.where
    if guard is None:
        return
    box = ranges.around(block.outermost)
    old = walk.constraints(guard)
    new = [n for c in old if (n := _with_units(c, units, box)) is not None]
    if new != old:
        guards.rewrite(block, guard, new)


def _with_units(condition: Constraint, units: dict[ir.Value, Index], box: ranges.Box) -> Constraint | None:
    """A condition without the loops of extent 1: None where it is known to hold, as it is where it is known not to."""
    index = folded(condition.index.substitute(units).simplified(), box)
    number = index.as_constant()
    if number is None:
        return Constraint(index, condition.is_eq)
    return None if number == 0 or (number > 0 and not condition.is_eq) else condition


def _loop_domain(block: Block, bindings: Sequence[Index], keep_units: bool) -> sets.Domain:
    """The ranges of the loops around a block; loops of extent 1 count as longer, so that they stay in expressions."""
    dom = sets.domain(block.op, extra=bindings, guards=False)
    if keep_units:
        for loop in walk.loops_above(block.op):
            if loop.const_extent == 1:
                dom.set = dom.set.drop_constraints_involving_dims(sets.dim_type.set, dom.index_of(loop.var), 1)
    return dom
