"""Check that a reduction may run over its reduce iters in another order."""

from __future__ import annotations

from collections.abc import Sequence

import islpy as isl

from tir_mlir.dialect.analysis import update_store
from tir_mlir.dialect.analysis.accesses import accesses
from tir_mlir.dialect.ir import Block, Iter, is_inside, loops_above
from tir_mlir.dialect.presburger import dim_type, question, sets
from tir_mlir.passes.schedule.legality.ordered_iters import full_iters
from tir_mlir.passes.schedule.registry import check


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
    places = []
    for it in iters:
        value = it.binding.is_value()
        if value is None or value not in order:
            return False
        places.append(order.index(value))
    return places == sorted(places) and len(set(places)) == len(places)
