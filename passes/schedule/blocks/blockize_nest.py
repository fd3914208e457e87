"""blockize of one loop nest: its loops, its guards, and the inner block."""

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
    outermost_with_searches,
    walk,
)
from tir_mlir.dialect.presburger import intervals, sets
from tir_mlir.passes.schedule.blocks.tile_bindings import Division
from tir_mlir.passes.schedule.edits import BlockRegions, NestedRegions
from tir_mlir.passes.schedule.registry import PASS_INNER_LOOP, check, refuse, use_longest_range


def check_unconditional(block: Block) -> None:
    """Refuse a block whose guard or binding is data: its loads use loops that would be outside the new block."""
    search = outermost_with_searches(block)
    if search != block.guarded:
        refuse(
            block,
            f'a binding of block "{block.name}" is not affine, and is computed from the loops around it',
            fix="in the program, compute it inside the block: as an index, or a condition",
        )
    check(
        block.guarded == block.outermost,
        block,
        f'block "{block.name}" runs only where a condition on data holds, which uses the loops around it',
        fix="in the program, put the condition into the block: if ...: around its statements",
    )


def inner_loops(target: Loop, block: Block) -> list[Loop]:
    """The loops from `target` down to the block, a perfect nest."""
    loops = loops_above(block.op)
    inner = loops[loops.index(target) :]
    for loop in inner:
        if len(loop.body_ops()) != 1:
            refuse(
                loop,
                f'the body of loop {loop.name} contains more than the nest of block "{block.name}"',
                fix=PASS_INNER_LOOP,
            )
    return inner


def check_inner_bounds(inner: Sequence[Loop]) -> None:
    inner_vars = {lp.var for lp in inner}
    for loop in inner:
        for bound in (*loop.lowers, *loop.uppers):
            for value in bound.values:
                outer = walk.enclosing_loop_name(value)
                if value not in inner_vars and outer is not None:
                    refuse(
                        loop,
                        f"the bounds of loop {loop.name} depend on loop {outer}, which is outside the new block",
                        fix=use_longest_range(loop),
                    )


def split_guards(
    guards: Sequence[Constraint], parts: Sequence[Division], inner: Sequence[Loop], block: Block
) -> tuple[list[Constraint], list[tuple[Constraint, Division | None]]]:
    """Guards that stay outside, and guards for the inner block: on one iter (with its division) or on inner loops."""
    inner_vars = {lp.var for lp in inner}
    outside: list[Constraint] = []
    inner_guards: list[tuple[Constraint, Division | None]] = []
    for guard in guards:
        uses = [v in inner_vars for v in guard.index.values if walk.enclosing_loop_name(v) is not None]
        if not any(uses):
            outside.append(guard)
        elif (on_iter := _on_iter(guard, parts)) is not None:
            rule, part = on_iter
            if part.size == 1 and part.inner.as_constant() is not None:  # the tile is one point of this iter
                point = {part.iter.var: part.start(part.outer)}
                moved = Constraint(rule.index.substitute(point).simplified(), rule.is_eq)
                if moved.is_eq or not intervals.at_least_zero(moved.index, intervals.around(inner[0].op)):
                    outside.append(moved)
            else:
                inner_guards.append(on_iter)
        elif all(uses) and block.init is None:
            inner_guards.append((guard, None))
        elif (on_iter := _restricted_iter(guard, parts, block)) is not None:
            inner_guards.append(on_iter)
        else:
            refuse(
                block,
                f'the guard of block "{block.name}" is not a condition on a single iter, so the part of a '
                "tile that it excludes is not known",
                fix="pass a loop around all loops that it uses"
                + ("; decompose_reduction first" if block.init is not None else ""),
            )
    return outside, inner_guards


def _on_iter(guard: Constraint, parts: Sequence[Division]) -> tuple[Constraint, Division] | None:
    """The guard as a condition on one iter: guard = sign * iter + rest, with rest free of loops; None if it is not."""
    for part in parts:
        for sign in (1, -1):
            remainder = (guard.index - part.iter.binding * sign).simplified()
            if all(walk.enclosing_loop_name(v) is None for v in remainder.values):
                return Constraint(Index.of(part.iter.var) * sign + remainder, guard.is_eq), part
    return None


def _restricted_iter(guard: Constraint, parts: Sequence[Division], block: Block) -> tuple[Constraint, Division] | None:
    """The iter that a guard restricts to its domain, if that is all the guard does."""
    dom = sets.domain(block.op, extra=[guard.index], guards=False)
    with sets.question(f'what the guard of block "{block.name}" excludes'):
        guarded_set = dom.set.intersect(sets.constraint_set(dom, guard))
        for part in parts:
            it = part.iter
            last = it.min + it.extent - 1
            if guarded_set.is_equal(dom.set.intersect(sets.constraint_set(dom, Constraint(last - it.binding)))):
                return Constraint((last - Index.of(it.var)).simplified()), part
    return None


def tile_start(part: Division, starts: dict[str, Index], keep_units: bool) -> Index:
    """The first iter value of a tile; without the outer iter if there is only one tile."""
    left_out = part.is_whole and (part.size != 1 or not keep_units)
    return part.iter.min if left_out else starts[part.iter.name]


@dataclass(frozen=True)
class DeclaredRegions:
    """The declared regions of a block and its nested blocks, before they get another block around them."""

    own: BlockRegions
    below: NestedRegions

    @classmethod
    def of(cls, block: Block) -> DeclaredRegions:
        return cls(BlockRegions.of(block), NestedRegions.of(block.op))


def inner_block(
    block: Block,
    old_regions: DeclaredRegions,
    parts: Sequence[Division],
    starts: dict[str, Index],
    guards,
    keep_units: bool,
) -> None:
    """Give the block its inner iters, and express the old ones through them."""
    tiled = [p for p in parts if p.size != 1]
    loc, number, facts = block.op.location, block.id, block.annotations
    has_init = block.init is not None
    where = block.where
    anchor = where if where is not None else block.op
    with ir.InsertionPoint(anchor), loc:
        specs = [IterSpec(f"{p.iter.name}_i", p.iter.kind, 0, p.size, p.inner, p.iter.is_wide) for p in tiled]
        # a guard on an iter becomes one on outer * size + inner loops, both available inside the new block
        through = {p.iter.var: (p.iter.min if p.is_whole else starts[p.iter.name]) + p.inner for p in parts}
        conditions = [Constraint(g.index.substitute(through).simplified(), g.is_eq) for g, _ in guards]
        ip = ir.InsertionPoint(anchor)
        if conditions:
            ip = create.at_end(create.where(conditions).regions[0].blocks[0])
        with ip:
            new = create.block(block.name, specs, facts)
    edit.set_attribute(new.op, attrs.ID, attrs.to_attr(number))
    inner = {p.iter.name: Index.of(i.var) for p, i in zip(tiled, new.iters, strict=True)}
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
    old_regions.own.restore(new, mapping, updates=has_init)
    old_regions.below.redeclare(mapping)
    edit.erase(anchor)
