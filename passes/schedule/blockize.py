"""blockize: the loops of a tile become the inside of a block."""

from __future__ import annotations

from collections.abc import Sequence

from mlir import ir

from tir_mlir.dialect import attrs, create, sets, walk
from tir_mlir.dialect.create import Constraint, IterSpec
from tir_mlir.dialect.index import Index
from tir_mlir.dialect.views import Block, Loop
from tir_mlir.dialect.walk import blocks_below, loops_above
from tir_mlir.passes.schedule.division import Division, divisions
from tir_mlir.passes.schedule.registry import check, primitive, refuse
from tir_mlir.passes.schedule.scope import check_starts
from tir_mlir.passes.schedule.starts import check_runs_once


@primitive("blockize")
def blockize(target: Loop, preserve_unit_iters: bool = True) -> Block:
    """Make the nest at and beneath a loop one block, around the block it holds.

        for i_0, i_1 in T.grid(4, 16):           for i_0 in range(4):
            with T.block("b"):                       with T.block("b_o"):
                vi = S(64, i_0 * 16 + i_1)  ->           vi_o = S(4, i_0)
                body(vi)                                 for i_1 in range(16):
                                                             with T.block("b"):
                                                                 vi_i = S(16, i_1)
                                                                 body(vi_o * 16 + vi_i)

    An init moves to the outer block, as a nest of its own around the block "b_init". The handle of the block stays with
    the inner one; the outer one is returned.

    Requires: the nest holds exactly one block; every binding is outer part * size + inner part, the inner part reaching
    [0, size); the bounds of the inner loops do not use loops further out; a guard speaks of whole iters, of outer
    loops, or of inner loops. With an init, no inner loop just repeats the block.
    """
    block = _only_block(target)
    _check_init(block)
    inner = _inner_loops(target, block)
    if block.init is not None:
        check_runs_once(block, inner)
    _check_inner_bounds(inner)
    parts = divisions(inner, block)
    guards = walk.constraints(block.where) if block.where is not None else []
    outside, inside = _split_guards(guards, parts, inner, block)
    return _rewrite(target, block, parts, (outside, inside), preserve_unit_iters)


def _only_block(target: Loop) -> Block:
    blocks = blocks_below(target.op)
    if len(blocks) != 1:
        names = ", ".join(f'"{b.name}"' for b in blocks) or "none"
        refuse(
            target,
            f"blockize needs a loop with exactly one block beneath it; loop {target.name} has {len(blocks)} ({names})",
        )
    return blocks[0]


def _check_init(block: Block) -> None:
    """Refuse an init that may not run ahead: the order of iterations is fixed, or its guard leaves the start out."""
    if block.init is None:
        return
    for it in block.iters:
        check(it.kind != "O", block, f'block "{block.name}" has an init and the opaque iter {it.name}, of fixed order')
    check_starts(block)


def _inner_loops(target: Loop, block: Block) -> list[Loop]:
    """The loops from `target` down to the block, a perfect nest."""
    loops = loops_above(block.op)
    inner = loops[loops.index(target) :]
    for loop in inner:
        if len(loop.body_ops()) != 1:
            refuse(loop, f'the body of loop {loop.name} holds more than the nest of block "{block.name}"')
    return inner


def _check_inner_bounds(inner: Sequence[Loop]) -> None:
    own = {lp.var for lp in inner}
    for loop in inner:
        for bound in (*loop.lowers, *loop.uppers):
            for value in bound.values:
                outer = walk.enclosing_loop_name(value)
                if value not in own and outer is not None:
                    refuse(loop, f"the bounds of loop {loop.name} use loop {outer}, which is outside the new block")


def _split_guards(
    guards: Sequence[Constraint], parts: Sequence[Division], inner: Sequence[Loop], block: Block
) -> tuple[list[Constraint], list[tuple[Constraint, Division | None]]]:
    """Guards that stay outside, and guards for the inner block: of one iter (with its division) or of inner loops."""
    own = {lp.var for lp in inner}
    outside: list[Constraint] = []
    inside: list[tuple[Constraint, Division | None]] = []
    for guard in guards:
        uses = [v in own for v in guard.index.values if walk.enclosing_loop_name(v) is not None]
        if not any(uses):
            outside.append(guard)
        elif (found := _on_iter(guard, parts)) is not None:
            inside.append(found)
        elif all(uses) and block.init is None:
            inside.append((guard, None))
        elif (found := _cuts_iter(guard, parts, block)) is not None:
            inside.append(found)
        else:
            refuse(
                block,
                f'the guard of block "{block.name}" mixes loops in a way that is no condition on a single iter, so it'
                " cannot be told what it leaves out of a tile",
            )
    return outside, inside


def _on_iter(guard: Constraint, parts: Sequence[Division]) -> tuple[Constraint, Division] | None:
    """The guard as a condition on one iter: guard = sign * iter + rest, rest free of loops; None where it is not."""
    for part in parts:
        for sign in (1, -1):
            rest = (guard.index - part.iter.binding * sign).simplified()
            if all(walk.enclosing_loop_name(v) is None for v in rest.values):
                return Constraint(Index.of(part.iter.var) * sign + rest, guard.is_eq), part
    return None


def _cuts_iter(guard: Constraint, parts: Sequence[Division], block: Block) -> tuple[Constraint, Division] | None:
    """The iter that a guard keeps inside its domain, where that is all the guard does."""
    dom = sets.domain(block.op, extra=[guard.index], guards=False)
    with sets.question(f'what the guard of block "{block.name}" leaves out'):
        held = dom.set.intersect(sets.holding(dom, guard))
        for part in parts:
            it = part.iter
            last = it.min + it.extent - 1
            if held.is_equal(dom.set.intersect(sets.holding(dom, Constraint(last - it.binding)))):
                return Constraint((last - Index.of(it.var)).simplified()), part
    return None


def _rewrite(target: Loop, block: Block, parts: Sequence[Division], guards, keep_units: bool) -> Block:
    outside, inside = guards
    name, number = block.name, block.id
    specs = [IterSpec(f"{p.iter.name}_o", p.iter.kind, 0, p.outer_extent, p.outer) for p in parts]
    with ir.InsertionPoint(target.op), block.op.location:
        holder = create.where(outside) if outside else None
        ip = create.at_end(holder.regions[0].blocks[0]) if holder is not None else ir.InsertionPoint(target.op)
        with ip:
            outer = create.block(f"{name}_o", specs)
    starts = {p.iter.name: p.start(Index.of(o.var)) for p, o in zip(parts, outer.iters, strict=True)}
    target.op.move_before(list(outer.body.operations)[-1])
    if block.init is not None:
        _move_init(outer, block, parts, starts, inside)
    _inner_block(Block(walk.find(outer.op, number)), parts, starts, inside, keep_units)  # type: ignore[arg-type]
    return outer


def _inner_block(block: Block, parts: Sequence[Division], starts: dict[str, Index], guards, keep_units: bool) -> None:
    """Give the block its inner iters and express the old ones through them."""
    kept = [p for p in parts if p.size != 1]
    loc, number, facts = block.op.location, block.id, block.annotations
    where = block.where
    anchor = where if where is not None else block.op
    with ir.InsertionPoint(anchor), loc:
        specs = [IterSpec(f"{p.iter.name}_i", p.iter.kind, 0, p.size, p.inner) for p in kept]
        # a guard on an iter becomes one on outer * size + inner loops, both in reach inside the new block
        through = {p.iter.var: (p.iter.min if p.is_whole else starts[p.iter.name]) + p.inner for p in parts}
        conditions = [Constraint(g.index.substitute(through).simplified(), g.is_eq) for g, _ in guards]
        ip = ir.InsertionPoint(anchor)
        if conditions:
            ip = create.at_end(create.where(conditions).regions[0].blocks[0])
        with ip:
            new = create.block(block.name, specs, facts)
    new.op.attributes[attrs.ID] = attrs.to_attr(number)
    inner = {p.iter.name: Index.of(i.var) for p, i in zip(kept, new.iters, strict=True)}
    mapping = {}
    for part in parts:
        if part.is_whole and (part.size != 1 or not keep_units):
            start = part.iter.min
        else:
            start = starts[part.iter.name]
        mapping[part.iter.var] = (start + inner.get(part.iter.name, 0)).simplified()
    if block.init is not None:
        walk.erase(block.init)
    walk.substitute(mapping)
    walk.fold_choices(block.op)
    walk.move_body(block.body, new.body)
    walk.erase(anchor)


def _move_init(outer: Block, block: Block, parts, starts: dict[str, Index], guards) -> None:
    """The init as a nest over the tile in the outer block's init, around the block "<name>_init"."""
    used = {v for op in walk.ops(block.init) for v in op.operands}  # type: ignore[arg-type]
    spatial = [p for p in parts if p.iter.kind != "R" and p.size != 1 and p.iter.var in used]
    with create.at_start(outer.body), block.op.location:
        init = create.init(outer)
    body = init.regions[0].blocks[0]
    variables: dict[ir.Value, Index] = {}
    for loop in loops_above(block.op):
        if any(loop.var in p.inner.values for p in spatial):
            with create.at_end(body), loop.op.location:
                copy = create.loop(loop.name, loop.lower, loop.uppers, loop.kind, loop.annotations)
            variables[loop.var] = Index.of(copy.var)
            body = copy.body
    through = {p.iter.var: starts[p.iter.name] + p.inner.substitute(variables) for p in parts}
    conditions = [
        Constraint(g.index.substitute(through).simplified(), g.is_eq)
        for g, p in guards
        if p is not None and p.iter.kind != "R"
    ]
    with create.at_end(body), block.op.location:
        ip = create.at_end(create.where(conditions).regions[0].blocks[0]) if conditions else create.at_end(body)
        with ip:
            specs = [
                IterSpec(f"{p.iter.name}_i_init", p.iter.kind, 0, p.size, p.inner.substitute(variables))
                for p in spatial
            ]
            fresh = create.block(f"{block.name}_init", specs)
    points = {p.iter.name: Index.of(i.var) for p, i in zip(spatial, fresh.iters, strict=True)}
    mapping = {p.iter.var: (starts[p.iter.name] + points.get(p.iter.name, 0)).simplified() for p in parts}
    init_body = block.init.regions[0].blocks[0]  # type: ignore[union-attr]
    walk.move_body(init_body, fresh.body)
    walk.substitute(mapping, fresh.op)
