"""Where the init of a reduction runs: what a new place for it has to keep."""

from __future__ import annotations

from collections.abc import Sequence

from tir_mlir.dialect.ir import Block, Constraint, Index, Loop
from tir_mlir.dialect.presburger import full_box, only_where, question, sets
from tir_mlir.passes.schedule.registry import check, refuse


def check_runs_once(block: Block, below: Sequence[Loop]) -> None:
    """Refuse unless the loops from the new place of an init down meet every point of a reduction once.

    A second time round, the init in its old place would start the sum anew; in the new place it would go on.
    """
    used = {v for i in block.iters for v in i.binding.values}
    for loop in below:
        check(
            loop.var in used or loop.const_extent == 1,
            loop,
            f'loop {loop.name} repeats block "{block.name}" without being bound to an iter of it: each time the init'
            " starts the sum anew, which an init ahead of the loop would not",
            f"take a loop inside {loop.name}" if loop != below[-1] else "",
        )
    if full_box.is_full_box(block):
        return
    with question(f'whether block "{block.name}" meets each point once'):
        dom = sets.domain(block.op)
        above = [Index.of(v) for v in dom.dims[: len(dom.dims) - len(below)]]
        once = dom.map([*above, *[i.binding for i in block.iters]]).is_injective()
    check(
        once,
        block,
        f'beneath loop {below[0].name} two iterations of block "{block.name}" are the same point: the init would not'
        " start the sum anew for the second",
    )


def check_begins(block: Block, below: Sequence[Loop], guard: Sequence[Constraint]) -> None:
    """Refuse when the loops from the new place of an init down only go on with a sum that began somewhere else.

    The init does not run there; in the new place it would, unless its `guard` leaves it out.
    """
    if full_box.is_full_box(block):
        return
    with question(f'whether the sum of block "{block.name}" begins beneath loop {below[0].name}'):
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
            f'beneath loop {below[0].name} the sum of block "{block.name}" does not begin everywhere: the init, which'
            f" does not run there now, would start it anew{only_where(continued, block.op)}",
        )
