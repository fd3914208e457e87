"""reorder: permute the loops of a nest."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from tir_mlir.dialect.analysis import dependences
from tir_mlir.dialect.ir import Loop, edit, is_loop, parent_op, parents
from tir_mlir.passes.schedule.registry import check, check_only_inner, primitive, refuse, use_longest_range

_EARLIER_FIX = "apply this before the step that added the other ops, for instance decompose_reduction or compute_at"
_ONE_NEST_FIX = "reorder each nest by itself; compute_at, reverse_compute_at and merge put two nests under one loop"


@primitive("reorder", moves="nothing")
def reorder(*loops: Loop) -> None:
    """Permute loops of one nest into the given order. Loops in between that are not passed keep their position.

        for i, j, k in T.grid(n, m, l):  reorder(k, i)   for k, j, i in T.grid(l, m, n):
            body(i, j, k)                     ->             body(i, j, k)

    Kinds and annotations move with their loops.

    Requires: a perfect nest from the outermost to the innermost loop; no bound depends on a loop that would move
    inside; no dependence is reversed (except that a reduction may run in any order). The kinds of iters do not matter:
    a loop of an ordered iter may move, too, if no value flows backwards.
    """
    if len(loops) < 2:
        return
    check(len({lp.id for lp in loops}) == len(loops), loops[0], "a loop is passed twice")
    chain = _chain(loops)
    slots = [chain.index(lp) for lp in sorted(loops, key=chain.index)]
    order = list(range(len(chain)))
    for slot, loop in zip(slots, loops, strict=True):
        order[slot] = chain.index(loop)
    if order == list(range(len(chain))):
        return
    _check_bounds(chain, order)
    clash = dependences.reordering_conflict(chain, order)
    if clash is not None:
        names = ", ".join(chain[i].name for i in order)
        refuse(chain[0], f"in the order {names} a dependence would run backwards: {clash}", counterexample=clash)
    permute(chain, order)


def _chain(loops: Sequence[Loop]) -> list[Loop]:
    """The perfect nest from the outermost of the loops to the innermost."""
    depth = {lp.id: len(parents(lp.op)) for lp in loops}
    inner = max(loops, key=lambda lp: depth[lp.id])
    outer = min(loops, key=lambda lp: depth[lp.id])
    chain = [inner]
    while chain[0] != outer:
        parent = parent_op(chain[0].op)
        if not is_loop(parent):
            refuse(
                inner,
                f"loops {outer.name} and {inner.name} are not nested in one another under the same block scope",
                fix=_ONE_NEST_FIX,
            )
        check_only_inner(Loop(parent), chain[0], ", so the two are not a perfect nest", _EARLIER_FIX)
        chain.insert(0, Loop(parent))
    for loop in loops:
        path = f"the path from {outer.name} to {inner.name}" if outer != inner else f"one path with loop {inner.name}"
        check(loop in chain, loop, f"loop {loop.name} is not on {path}", _ONE_NEST_FIX)
    return chain


def _check_bounds(chain: Sequence[Loop], order: Sequence[int]) -> None:
    chain_loops = {lp.var: lp for lp in chain}
    seen: set[object] = set()
    for position in order:
        loop = chain[position]
        for bound in (*loop.lowers, *loop.uppers):
            for value in bound.values:
                if value in chain_loops and value not in seen:
                    outer = chain_loops[value].name
                    text = f"the bounds of loop {loop.name} depend on {outer}, which would move inside it"
                    refuse(loop, text, fix=use_longest_range(loop))
        seen.add(loop.var)


def permute(chain: Sequence[Loop], order: Sequence[int]) -> None:
    """Permute a perfect chain of loops. The ops are kept, so ids and handles remain valid."""
    body = chain[-1].body_ops()
    anchor = chain[0].op
    placed = [chain[i] for i in order]
    # take the chain apart, all loops side by side before the old outermost one, then nest again
    for op in [*(lp.op for lp in chain[1:]), *body]:
        edit.move_before(op, anchor)
    for outer, inner in itertools.pairwise(placed):
        edit.move_before(inner.op, list(outer.body.operations)[-1])
    end = list(placed[-1].body.operations)[-1]
    for op in body:
        edit.move_before(op, end)
