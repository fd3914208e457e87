"""What rfactor asks of the loops around a reduction: their roles, the guards, and what else runs beneath them."""

from __future__ import annotations

from dataclasses import dataclass

import islpy as isl
from mlir import ir

from tir_mlir.dialect.analysis.accesses import accesses
from tir_mlir.dialect.diagnostics import Counterexample, Iteration
from tir_mlir.dialect.ir import (
    Block,
    Buffer,
    Constraint,
    Index,
    Loop,
    blocks_below,
    is_loop,
    is_symbol,
    loops_above,
    parent_op,
    walk,
)
from tir_mlir.dialect.presburger import full_box, only_where, question, sets
from tir_mlir.passes.schedule.legality import APART, ASSUMED, WHOLE_SUM, children, scope_of
from tir_mlir.passes.schedule.registry import check, refuse

_FIRST_OR_BELOW = "take a loop over one block only, or do this before the step that put the others there"


@dataclass(frozen=True)
class Roles:
    """The loops around a reduction, outer to inner; `loop` is to be factored out, `reduce` drive reduce iters."""

    loop: Loop
    block: Block
    loops: list[Loop]
    reduce: list[Loop]

    @property
    def dropped(self) -> list[Loop]:
        """The loops that combining the parts does without."""
        return [lp for lp in self.reduce if lp != self.loop]

    @property
    def top(self) -> Loop:
        """The outermost reduce loop."""
        return self.reduce[0]


def roles_of(loop: Loop) -> Roles:
    """The roles of the loops around the block under a loop. Refuses nests in which they are not plain."""
    blocks = blocks_below(loop.op)
    if len(blocks) != 1:
        names = ", ".join(f'"{b.name}"' for b in blocks) or "none"
        text = f"rfactor needs a loop with exactly one block beneath it; loop {loop.name} has {names}"
        refuse(loop, text, fix=_FIRST_OR_BELOW if blocks else "")
    block = blocks[0]
    check(
        block in children(scope_of(block)),
        block,
        f'block "{block.name}" stands in an init region; only the blocks of a body have loops that can be factored',
        f"take a reduce loop of {scope_of(block)} itself",
    )
    check(loop.kind == "serial", loop, f"loop {loop.name} is {loop.kind}; rfactor needs a serial loop: rfactor first")
    loops = loops_above(block.op)
    spatial = {v for it in block.iters if it.kind != "R" for v in it.binding.values}
    reduce = {v for it in block.iters if it.kind == "R" for v in it.binding.values}
    roles = Roles(loop, block, loops, [lp for lp in loops if lp.var in reduce])
    check(
        loop.var in reduce,
        loop,
        f'loop {loop.name} drives no reduce iter of block "{block.name}"; rfactor takes a loop of the reduction apart',
        f"take one that does: {', '.join(lp.name for lp in roles.reduce)}" if roles.reduce else "",
    )
    for one in loops:
        if one.var in reduce and one.var in spatial:
            it = next(i for i in block.iters if i.kind != "R" and one.var in i.binding.values)
            text = f"loop {one.name} drives reduce iters and the spatial iter {it.name}; rfactor needs them apart"
            refuse(one, text, fix="split takes what fuse put together apart, by the extents of the iters")
    _check_nest(roles)
    _check_bounds(roles)
    _check_once(roles)
    return roles


def _check_nest(roles: Roles) -> None:
    """Refuse unless the block is the first thing under its outermost loop, and alone under its reduce loops."""
    block = roles.block
    current, chain = block.outermost, [lp.op for lp in roles.loops]
    while current != chain[0]:
        parent = parent_op(current)
        text = f'block "{block.name}" stands under an if; its loops are no plain nest'
        check(is_loop(parent), block, text, "in the program, let T.where guard the block")
        loop = Loop(parent)
        if loop in roles.loops[roles.loops.index(roles.top) :]:
            check(
                len(loop.body_ops()) == 1,
                loop,
                f'the body of the reduce loop {loop.name} holds more than the nest of block "{block.name}"',
                APART,
            )
        check(
            loop.body_ops()[0] == current,
            loop,
            f'block "{block.name}" is not the first in loop {loop.name}: its parts are computed ahead of all that is'
            f" in loop {roles.loops[0].name}",
            APART,
        )
        current = parent


def _check_bounds(roles: Roles) -> None:
    """Refuse bounds that rely on other loops where the rewrite takes loops apart."""
    for loop in roles.loops:
        for bound in (*loop.lowers, *loop.uppers):
            for one in roles.reduce:
                if one.var in bound.values:
                    text = f"the bounds of loop {loop.name} use the reduce loop {one.name}"
                    refuse(loop, text, fix=WHOLE_SUM if loop in roles.reduce else "")
    for loop in roles.reduce:
        bounds = [*loop.lowers, *loop.uppers]
        plain = len(bounds) == 2 and all(is_symbol(v) for b in bounds for v in b.values)
        text = f"the reduce loop {loop.name} runs from and to values that change; it must have a fixed extent"
        check(plain, loop, text, WHOLE_SUM)


def _check_once(roles: Roles) -> None:
    """Refuse unless the loops from the outermost reduce loop on meet each point of the block once, from its start."""
    block = roles.block
    below = roles.loops[roles.loops.index(roles.top) :]
    used = {v for it in block.iters for v in it.binding.values}
    for loop in below:
        check(
            loop.var in used or loop.const_extent == 1,
            loop,
            f'loop {loop.name} repeats block "{block.name}" beneath the reduce loop {roles.top.name} without being'
            " bound to an iter: what it repeats would be combined as often",
        )
    starts = {lp.var: lp.lower for lp in roles.reduce}
    for it in block.iters:
        if it.kind == "R" and not it.binding.substitute(starts).same(it.min):
            refuse(
                block, f"iter {it.name} does not start where its loops start, so its init runs in the middle of them"
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
        f'beneath loop {roles.top.name} two iterations of block "{block.name}" are the same point; their parts would be'
        " combined twice",
    )


# --- guards -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Computed:
    """Which parts there are to combine: the first `extent` of the loop, where `guards` hold."""

    extent: Index
    guards: list[Constraint]


def computed_parts(roles: Roles) -> Computed:
    """The parts that the first nest computes.

    A part is started where the other reduce loops start, so it is there when the guard holds at that place. Refuses a
    guard that leaves out the start of a part, or of the whole, and lets later iterations run: they never had an init.
    """
    block, loop = roles.block, roles.loop
    for other in roles.dropped:
        _check_runs(other)
    guards = walk.constraints(block.where) if block.where is not None else []
    starts = {lp.var: lp.lower for lp in roles.dropped}
    first = {**starts, loop.var: loop.lower}
    found = Computed(loop.extent, [])
    with question(f'what the guard of block "{block.name}" leaves out'):
        for guard in guards:
            _check_start(roles, guard, first, "the reduction")
            _check_start(roles, guard, starts, "its part")
            kept = Constraint(guard.index.substitute(starts).simplified(), guard.is_eq)
            loose = sets.domain(block.op, extra=[kept.index], guards=False)
            if sets.holds(loose, kept.index, kept.is_eq):
                continue
            found.guards.append(kept)
            if loop.var in kept.index.values:
                runs = loose.set.intersect(sets.constraint_set(loose, kept))
                found = Computed(_last_part(roles, kept, runs, loose), found.guards)
    return found


def _check_runs(loop: Loop) -> None:
    """Refuse a loop that may be empty: no part would be computed, but all would be combined."""
    if (loop.const_extent or 0) >= 1:
        return
    sizes = sets.sizes(loop.op)
    with question(f"whether loop {loop.name} runs"):
        empty = sizes.set.subtract(sets.constraint_set(sizes, Constraint(loop.extent - 1)))
    if not empty.is_empty():
        refuse(
            loop,
            f"the reduce loop {loop.name} may run no iteration at all{only_where(empty, loop.op)}: no part would be"
            " computed",
            fix=ASSUMED,
        )


def _last_part(roles: Roles, guard: Constraint, runs: isl.Set, loose: sets.Domain) -> Index:
    """How many parts a guard leaves. Refused where that is no constant."""
    loop = roles.loop
    if guard.index.values != (loop.var,):
        missed = loose.set.subtract(runs)
        refuse(
            roles.block,
            f'the guard of block "{roles.block.name}" leaves out some parts of loop {loop.name}, and which depends on'
            f" more than that loop{only_where(missed, loop.op)}; split so that every part has a first iteration",
        )
    ends = sets.constant_extent(runs, loose.index_of(loop.var))
    low = loop.lower.as_constant()
    if ends is None or low is None:
        refuse(roles.block, f"which parts of loop {loop.name} are computed is not known", provable=False)
    return Index.constant(ends[1] - low + 1)


def _check_start(roles: Roles, guard: Constraint, starts: dict[ir.Value, Index], what: str) -> None:
    """Refuse when an iteration runs whose start, in some of the loops, a guard leaves out."""
    at_start = Constraint(guard.index.substitute(starts), guard.is_eq)
    runs = sets.domain(roles.block.op, extra=[at_start.index])
    bad = runs.set.subtract(sets.constraint_set(runs, at_start))
    if bad.is_empty():
        return
    point = (sets.smallest_point(bad) or [])[-len(runs.dims) :]
    names = {lp.var: lp.name for lp in roles.loops}
    at = [(names[v], n) for v, n in zip(runs.dims, point, strict=False) if v in names]
    shown = ", ".join(f"{name} = {n}" for name, n in at)
    refuse(
        roles.block,
        f'the guard of block "{roles.block.name}" lets ({shown}) run but leaves out the iteration with which {what}'
        " starts, so no init runs for it",
        counterexample=Counterexample((Iteration(roles.block.name, tuple(at)),)),
        fix=WHOLE_SUM,
    )


# --- what else runs there ---------------------------------------------------------------------------------------------


def check_may_run_first(roles: Roles) -> None:
    """Refuse unless all parts may be computed ahead of the outermost loop."""
    block, top = roles.block, roles.loops[0]
    inputs = {a.buffer for a in accesses(block.op) if not a.is_write}
    for access in accesses(top.op):
        if access.is_write and access.buffer in inputs and not walk.is_inside(access.op, block.op):
            other = walk.enclosing_block(access.op)
            refuse(
                other,
                f'{Buffer(access.buffer).name}, which block "{block.name}" reads, is also written by {other} beneath'
                f" loop {top.name}: all parts are computed ahead of that loop",
            )


__all__ = ["Computed", "Roles", "check_may_run_first", "computed_parts", "roles_of"]
