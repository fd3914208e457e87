"""What blockize does with one nest: its loops, its guards, and the block that stays inside."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mlir import ir

from tir_mlir.dialect.ir import (
    Block,
    Constraint,
    Index,
    IterSpec,
    Loop,
    attrs,
    create,
    edit,
    fold_known,
    loops_above,
    walk,
)
from tir_mlir.dialect.presburger import sets
from tir_mlir.passes.schedule.blocks.tile_bindings import Division
from tir_mlir.passes.schedule.edits import DeclaredBelow, Signature
from tir_mlir.passes.schedule.legality import ALONE, longest
from tir_mlir.passes.schedule.registry import refuse


def inner_loops(target: Loop, block: Block) -> list[Loop]:
    """The loops from `target` down to the block, a perfect nest."""
    loops = loops_above(block.op)
    inner = loops[loops.index(target) :]
    for loop in inner:
        if len(loop.body_ops()) != 1:
            refuse(loop, f'the body of loop {loop.name} holds more than the nest of block "{block.name}"', fix=ALONE)
    return inner


def check_inner_bounds(inner: Sequence[Loop]) -> None:
    own = {lp.var for lp in inner}
    for loop in inner:
        for bound in (*loop.lowers, *loop.uppers):
            for value in bound.values:
                outer = walk.enclosing_loop_name(value)
                if value not in own and outer is not None:
                    refuse(
                        loop,
                        f"the bounds of loop {loop.name} use loop {outer}, which is outside the new block",
                        fix=longest(loop),
                    )


def split_guards(
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
                fix="take a loop around all that it uses"
                + ("; decompose_reduction first" if block.init is not None else ""),
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
        held = dom.set.intersect(sets.constraint_set(dom, guard))
        for part in parts:
            it = part.iter
            last = it.min + it.extent - 1
            if held.is_equal(dom.set.intersect(sets.constraint_set(dom, Constraint(last - it.binding)))):
                return Constraint((last - Index.of(it.var)).simplified()), part
    return None


def tile_start(part: Division, starts: dict[str, Index], keep_units: bool) -> Index:
    """Where a tile begins; of one that is all there is, the outer iter is left out."""
    left_out = part.is_whole and (part.size != 1 or not keep_units)
    return part.iter.min if left_out else starts[part.iter.name]


@dataclass(frozen=True)
class Declared:
    """What a block and those beneath it declare, as it is before they get another block around them."""

    own: Signature
    below: DeclaredBelow

    @classmethod
    def of(cls, block: Block) -> Declared:
        return cls(Signature.of(block), DeclaredBelow.of(block.op))


def inner_block(
    block: Block, before: Declared, parts: Sequence[Division], starts: dict[str, Index], guards, keep_units: bool
) -> None:
    """Give the block its inner iters and express the old ones through them."""
    kept = [p for p in parts if p.size != 1]
    loc, number, facts = block.op.location, block.id, block.annotations
    has_init = block.init is not None
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
        start = tile_start(part, starts, keep_units)
        mapping[part.iter.var] = (start + inner.get(part.iter.name, 0)).simplified()
    if block.init is not None:
        edit.erase(block.init)
    edit.substitute(mapping)
    fold_known(block.op)
    edit.move_body(block.body, new.body)
    attrs.put(new.op, attrs.HIDDEN, attrs.get(block.op, attrs.HIDDEN))
    before.own.keep(new, mapping, updates=has_init)
    before.below.keep(mapping)
    edit.erase(anchor)
