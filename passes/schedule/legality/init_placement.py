"""Check that the init of a reduction can move to another loop."""

from __future__ import annotations

from collections.abc import Sequence

from tir_mlir.dialect.ir import Block, Constraint, Index, Loop
from tir_mlir.dialect.presburger import full_box, only_where, question, sets
from tir_mlir.passes.schedule.registry import check, refuse


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
    if full_box.is_full_box(block):
        return
    with question(f'whether block "{block.name}" visits each point once'):
        dom = sets.domain(block.op)
        above = [Index.of(v) for v in dom.dims[: len(dom.dims) - len(below)]]
        once = dom.map([*above, *[i.binding for i in block.iters]]).is_injective()
    check(
        once,
        block,
        f'under loop {below[0].name} two iterations of block "{block.name}" are the same point: a '
        "hoisted init would not restart the reduction for the second one",
    )


def check_always_begins(block: Block, below: Sequence[Loop], guard: Sequence[Constraint]) -> None:
    """Refuse when the loops `below` the new position of an init only continue a reduction that began elsewhere.

    The init does not run there today; in the new position it would, unless its `guard` excludes it.
    """
    if full_box.is_full_box(block):
        return
    with question(f'whether the reduction of block "{block.name}" begins under loop {below[0].name}'):
        dom = sets.domain(block.op)
        above = [Index.of(v) for v in dom.dims[: len(dom.dims) - len(below)]]
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
