"""Check that a reduction may run over its reduce iters in another order, and that its init can move to another loop."""

from __future__ import annotations

from collections.abc import Sequence

import islpy as isl

from tir_mlir.dialect.analysis import update_store
from tir_mlir.dialect.analysis.accesses import accesses
from tir_mlir.dialect.ir import Block, Constraint, Index, Iter, Loop, is_inside, loops_above
from tir_mlir.dialect.presburger import dim_type, full_box, only_where, question, sets
from tir_mlir.passes.schedule.legality.ordered_iters import full_iters
from tir_mlir.passes.schedule.registry import check, refuse


def check_reduction_order(block: Block) -> None:
    """Refuse an order-dependent reduction or a recurrence, unless its loops run its iters in increasing order.

    A moved block gets new loops over its reduce and ordered iters, in the order in which the block lists them. Sums,
    products, minima and maxima may be reordered.
    """
    reduce = full_iters(block)
    if not reduce or _is_associative(block, reduce) or _runs_in_iter_order(block, reduce):
        return
    names = {i.name for i in reduce}
    loops = loops_above(block.op)
    driving = {v for i in reduce for v in i.binding.values}
    with question(f'the order of the reduction in block "{block.name}"'):
        dom = sets.domain(block.op)
        fixed = [n for n, v in enumerate(dom.dims) if v not in driving]
        earlier = isl.Map.lex_lt(dom.set.get_space()).intersect_domain(dom.set).intersect_range(dom.set)
        for level in fixed:
            earlier = earlier.equate(dim_type.in_, level, dim_type.out, level)
        spatial = dom.relation([dom.zero, *[dom.aff(i.binding) for i in block.iters if i.name not in names]])
        same = spatial.apply_range(spatial.reverse())
        point = dom.map([i.binding for i in reduce])
        falling = point.apply_range(isl.Map.lex_ge(point.range().get_space())).apply_range(point.reverse())
        in_order = earlier.intersect(same).intersect(falling).is_empty()
    listed = ", ".join(i.name for i in reduce)
    plain = all(i.binding.is_value() is not None for i in reduce)
    check(
        in_order,
        loops[0] if loops else block,
        f'the update of block "{block.name}" depends on the order of {listed}, and its loops do '
        "not run them in increasing order; the moved block would",
        "reorder_block_iter_var lists them in the order of the loops" if plain else "",
    )


def _is_associative(block: Block, iters: Sequence[Iter]) -> bool:
    """Whether every store outside the init combines the old element with a value by a known reducer."""
    if any(i.kind == "O" for i in iters):
        return False
    stores = [a.op for a in accesses(block.op) if a.is_write and not (block.init and is_inside(a.op, block.init))]
    return all(update_store(op) is not None for op in stores)


def _runs_in_iter_order(block: Block, iters: Sequence[Iter]) -> bool:
    """Whether the iters are bound to loops that nest in the order of the iters."""
    order = [lp.var for lp in loops_above(block.op)]
    positions = []
    for it in iters:
        value = it.binding.is_value()
        if value is None or value not in order:
            return False
        positions.append(order.index(value))
    return positions == sorted(positions) and len(set(positions)) == len(positions)


def check_visits_once(block: Block, below: Sequence[Loop]) -> None:
    """Refuse unless the loops `below` the new position of an init visit every point of the reduction once.

    On a second visit the init would restart the reduction in its old position, but not in the new one.
    """
    bound_values = {v for i in block.iters for v in i.binding.values}
    for loop in below:
        check(
            loop.var in bound_values or loop.const_extent == 1,
            loop,
            f'loop {loop.name} repeats block "{block.name}" without being bound to one of its iters: '
            "each repetition restarts the reduction, which an init hoisted out of the loop would not",
            f"pass a loop inside {loop.name}" if loop != below[-1] else "",
        )
    check(
        visits_once(block, below),
        block,
        f'under loop {below[0].name} two iterations of block "{block.name}" are the same point: a '
        "hoisted init would not restart the reduction for the second one",
    )


def visits_once(block: Block, below: Sequence[Loop]) -> bool:
    """Whether a block runs at no point twice in one iteration of the loops around `below`, its innermost ones."""
    if full_box.is_full_box(block):
        return True
    with question(f'whether block "{block.name}" visits each point once'):
        dom = sets.domain(block.op)
        above = [Index.from_value(v) for v in dom.dims[: len(dom.dims) - len(below)]]
        return dom.map([*above, *[i.binding for i in block.iters]]).is_injective()


def check_always_begins(block: Block, below: Sequence[Loop], guard: Sequence[Constraint]) -> None:
    """Refuse when the loops `below` the new position of an init only continue a reduction that began elsewhere.

    The init does not run there today; in the new position it would, unless its `guard` excludes it.
    """
    if full_box.is_full_box(block):
        return
    with question(f'whether the reduction of block "{block.name}" begins under loop {below[0].name}'):
        dom = sets.domain(block.op)
        above = [Index.from_value(v) for v in dom.dims[: len(dom.dims) - len(below)]]
        began = dom.set
        for it in (i for i in block.iters if i.kind == "R"):
            began = began.intersect(sets.constraint_set(dom, Constraint(it.binding - it.min, is_eq=True)))
        sums = dom.map([*above, *[i.binding for i in block.iters if i.kind != "R"]])
        continued = dom.set.subtract(sums.intersect_range(began.apply(sums)).domain())
        for condition in guard:
            continued = continued.intersect(sets.constraint_set(dom, condition))
    if not continued.is_empty():
        refuse(
            block,
            f'under loop {below[0].name} the reduction of block "{block.name}" does not always begin: '
            f"a hoisted init would restart it{only_where(continued, block.op)}",
        )
