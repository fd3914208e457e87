"""blockize: the loop nest of a tile -> a block."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import gcd

from mlir import ir

from tir_mlir.dialect.diagnostics import emit_remark
from tir_mlir.dialect.ir import (
    Block,
    Constraint,
    Index,
    IterSpec,
    Loop,
    attrs,
    blocks_below,
    create,
    edit,
    fold_known,
    freeze_modules,
    is_block,
    is_loop,
    loops_above,
    outermost_with_searches,
    walk,
)
from tir_mlir.dialect.ir.op_views import FuncOp, isa
from tir_mlir.dialect.presburger import intervals, sets
from tir_mlir.dialect.verify.iter_kinds import iter_kinds
from tir_mlir.passes.schedule.blocks.data_conditions import bind_condition, check_condition, is_computation
from tir_mlir.passes.schedule.blocks.tile_bindings import Division, divide_bindings
from tir_mlir.passes.schedule.edits import BlockRegions, NestedRegions
from tir_mlir.passes.schedule.legality import check_init_runs, check_visits_once, refuse_ordered, scope_of
from tir_mlir.passes.schedule.registry import AVOID_GUARD, PASS_INNER_LOOP, check, primitive, refuse, use_longest_range


@primitive("blockize", moves="in place")
def blockize(target: Loop | list[Block], preserve_unit_iters: bool = True) -> Block:
    """Convert the nest at and under a loop into one block around the block it contains; or do so for a list of blocks.

        for i_0, i_1 in T.grid(4, 16):           for i_0 in range(4):
            with T.block("b"):                       with T.block("b_o"):
                vi = S(64, i_0 * 16 + i_1)  ->           vi_o = S(4, i_0)
                body(vi)                                 for i_1 in range(16):
                                                             with T.block("b"):
                                                                 vi_i = S(16, i_1)
                                                                 body(vi_o * 16 + vi_i)

    An init moves to the outer block, as a nest of its own around the block "b_init". The handle remains with the inner
    block; the outer one is returned.

    Given a list of blocks with adjacent nests and equal outer parts, everything under their common parent goes into one
    block "outer_<name>_<name>_" with the iters of the first one, ordered where one of the blocks needs the order; iters
    that no outer loop moves need no counterpart.

    Requires: the nest contains exactly one block; every binding is outer part * size + inner part, with the inner part
    covering [0, size), or no outer loop moves it; the bounds of the inner loops do not depend on outer loops; a guard
    constrains whole iters, outer loops, or inner loops; a condition on data uses outer loops as the outer parts of
    bindings do, and the block has no init. With an init, no inner loop merely repeats the block. The blocks of a list
    have no init and no condition on data, their reduce iters lie within the new block, and its iterations are
    independent.
    """
    if not isinstance(target, Loop):
        return blockize_several(target, preserve_unit_iters)
    with freeze_modules():
        block = _only_block(target)
        _check_init(block)
        check_bindings_affine(block)
        is_conditional = block.guarded_op != block.outermost
        inner = inner_loops(target, block, is_conditional)
        if block.init is not None:
            check_visits_once(block, inner)
        check_inner_bounds(inner)
        parts = divide_bindings(inner, block)
        _note_parts(parts, inner)
        guards = walk.constraints(block.where) if block.where is not None else []
        outside, inner_guards = split_guards(guards, parts, inner, block)
        if is_conditional:
            check_condition(target, block, inner, parts)
    number = target.id
    outer = _rewrite(target, block, parts, (outside, inner_guards), preserve_unit_iters)
    if is_conditional:
        bind_condition(Loop(walk.op_with_id(outer.op, number)), parts, outer)
        iter_kinds(outer)
    return outer


def _note_parts(parts: Sequence[Division], inner: Sequence[Loop]) -> None:
    names = ", ".join(f"`{loop.name}`" for loop in inner)
    run = "runs" if len(inner) == 1 else "run"
    for part in parts:
        name, size = part.iter.name, part.size
        is_single = part.is_whole or not isinstance(size, int)
        tile = f"{name}_i" if is_single else f"{name}_o * {size} + {name}_i"
        if size == 1:
            emit_remark(f"`{name}` keeps one value while {names} {run}")
            continue
        values = f"the values 0 to {size - 1}" if isinstance(size, int) else "all values of its domain"
        emit_remark(f"`{name} = {tile}`, and {names} {run} `{name}_i` through {values}, and no other")


def _only_block(target: Loop) -> Block:
    blocks = blocks_below(target.op)
    if len(blocks) != 1:
        names = ", ".join(f'"{b.name}"' for b in blocks) or "none"
        refuse(
            target,
            f"blockize needs a loop with exactly one block under it; loop {target.name} has {len(blocks)} ({names})",
            fix="pass the loop of one of them, or a list of the blocks" if blocks else "pass a loop around a block",
        )
    return blocks[0]


def _check_init(block: Block) -> None:
    """Refuse an init that may not be hoisted: the order of iterations is fixed, or its guard excludes the start."""
    if block.init is None:
        return
    for it in block.iters:
        if it.kind == "O":
            refuse_ordered(block, it, "an init may be hoisted out of loops of spatial and reduce iters only")
    check_init_runs(block)


def _rewrite(target: Loop, block: Block, parts: Sequence[Division], guards, keep_units: bool) -> Block:
    outside, inner_guards = guards
    name, number, old_regions = block.name, block.id, DeclaredRegions.from_block(block)
    specs = [IterSpec(f"{p.iter.name}_o", p.iter.kind, 0, p.outer_extent, p.outer, p.iter.is_wide) for p in parts]
    with ir.InsertionPoint(target.op), block.op.location:
        holder = create.where(outside) if outside else None
        ip = create.at_end(holder.regions[0].blocks[0]) if holder is not None else ir.InsertionPoint(target.op)
        with ip:
            outer = create.block(f"{name}_o", specs)
    starts = {p.iter.name: p.start(Index.from_value(o.var)) for p, o in zip(parts, outer.iters, strict=True)}
    edit.move_before(target.op, list(outer.body.operations)[-1])
    if block.init is not None:
        _move_init(outer, block, parts, starts, inner_guards, keep_units)
    inner = Block(walk.op_with_id(outer.op, number))
    inner_block(inner, old_regions, parts, starts, inner_guards, keep_units)
    old_regions.own.extend_outer(outer)
    return outer


def _move_init(outer: Block, block: Block, parts, starts: dict[str, Index], guards, keep_units: bool) -> None:
    """Move the init into the outer block's init, as a nest over the tile around the block "<name>_init"."""
    init_values = {v for op in walk.ops(block.init) for v in op.operands}  # type: ignore[arg-type]
    spatial = [p for p in parts if p.iter.kind != "R" and p.size != 1 and p.iter.var in init_values]
    with create.at_start(outer.body), block.op.location:
        init = create.init(outer)
    nest = walk.loops_behind(loops_above(block.op), {v for p in spatial for v in p.inner.values})
    ip_in_nest, variables = create.copy_loops(nest, create.at_end(init.regions[0].blocks[0]))
    starts = {p.iter.name: tile_start(p, starts, keep_units) for p in parts}
    points = {p.iter.name: p.inner.substitute(variables) if p.size != 1 else Index.constant(0) for p in parts}
    through = {p.iter.var: starts[p.iter.name] + points[p.iter.name] for p in parts}
    conditions = [
        Constraint(g.index.substitute(through).simplify(), g.is_eq)
        for g, p in guards
        if p is not None and p.iter.kind != "R"
    ]
    with ip_in_nest, block.op.location:
        ip = create.at_end(create.where(conditions).regions[0].blocks[0]) if conditions else ip_in_nest
        with ip:
            specs = [
                IterSpec(f"{it.name}_i_init", it.kind, 0, p.size, p.inner.substitute(variables), it.is_wide)
                for p in spatial
                for it in (p.iter,)
            ]
            fresh = create.block(f"{block.name}_init", specs)
    inner = {p.iter.name: Index.from_value(i.var) for p, i in zip(spatial, fresh.iters, strict=True)}
    mapping = {p.iter.var: (starts[p.iter.name] + inner.get(p.iter.name, 0)).simplify() for p in parts}
    init_body = block.init.regions[0].blocks[0]  # type: ignore[union-attr]
    edit.move_body(init_body, fresh.body)
    edit.substitute(mapping, fresh.op)


# --- several blocks ---------------------------------------------------------------------------------------------------


def blockize_several(blocks: Sequence[Block], keep_units: bool) -> Block:
    """Move adjacent blocks, with their nests, into a new block "outer_<name>_<name>_"."""
    level = _level(blocks)
    ordered = sorted(blocks, key=lambda b: walk.position(walk.child_towards(level, b.op)))
    tops = [walk.child_towards(level, b.op) for b in ordered]
    for current, following, block in zip(tops, tops[1:], ordered[1:], strict=False):
        if current.block != following.block or walk.position(following) != walk.position(current) + 1:
            refuse(
                block,
                f'block "{block.name}" does not directly follow the previous one; no other op may be between them',
                fix="list the blocks in between as well, or move them away first (compute_inline, compute_at)",
            )
    parts, guards = [], []
    for block, top in zip(ordered, tops, strict=True):
        inner = _nest(block, top)
        parts.append(divide_bindings(inner, block))
        _check_whole_sums(block, parts[-1])
        constraints = walk.constraints(block.where) if block.where is not None else []
        guards.append(split_guards(constraints, parts[-1], inner, block))
        _check_same_outside(ordered[0], parts[0], guards[0][0], block, parts[-1], guards[-1][0])

    old_regions = [(b.id, DeclaredRegions.from_block(b)) for b in ordered]
    name = f"outer_{'_'.join(b.name for b in ordered)}_"
    outer = _outer_block(name, _outer_iters(parts), guards[0][0], tops)
    for (number, current), divisions, (_, inner_guards) in zip(old_regions, parts, guards, strict=True):
        starts = _starts(divisions, parts[0], [Index.from_value(i.var) for i in outer.iters])
        inner_block(Block(walk.op_with_id(outer.op, number)), current, divisions, starts, inner_guards, keep_units)
    iter_kinds(Block(outer.op))
    return outer


def _is_moving(part: Division) -> bool:
    """Whether outer loops give a part more than one value."""
    return part.moves and part.outer_extent.as_constant() != 1


def _moving(parts: Sequence[Division]) -> list[Division]:
    return [p for p in parts if _is_moving(p)]


def _outer_iters(parts: Sequence[Sequence[Division]]) -> list[IterSpec]:
    """The iters of the new block: those of the first block, ordered where another block needs the order."""
    ordered = {n for divisions in parts for n, p in enumerate(_moving(divisions)) if p.iter.kind == "O"}
    moving = iter(range(len(parts[0])))
    kinds = ["O" if _is_moving(p) and next(moving) in ordered else p.iter.kind for p in parts[0]]
    return [
        IterSpec(f"{p.iter.name}_o", kind, 0, p.outer_extent, p.outer, p.iter.is_wide)
        for p, kind in zip(parts[0], kinds, strict=True)
    ]


def _starts(divisions: Sequence[Division], first: Sequence[Division], outer: Sequence[Index]) -> dict[str, Index]:
    """The start of the tile of each iter of a block: its outer part is the iter of the new block that moves alike."""
    pairs = zip(first, outer, strict=True)
    moving = iter([o for p, o in pairs if _is_moving(p)])
    return {p.iter.name: p.start(next(moving) if _is_moving(p) else Index.constant(0)) for p in divisions}


def _level(blocks: Sequence[Block]) -> ir.Operation:
    """The op whose body contains all the blocks: a loop, or the enclosing block or function."""
    check(len(blocks) > 0, None, "blockize takes a loop, or a list of adjacent blocks; the list is empty")
    if len(blocks) == 1:
        refuse(blocks[0], "a list for blockize has at least two blocks; for a single block pass the loop around it")
    check(len({b.id for b in blocks}) == len(blocks), blocks[0], "a block is listed twice", fix="list each block once")
    for block in blocks:
        if not isinstance(block, Block):
            refuse(block, "this is the root block; pass blocks with a computation")
        scope = scope_of(block)
        if scope != scope_of(blocks[0]):
            refuse(
                block,
                f'block "{block.name}" and block "{blocks[0].name}" are not under the same block',
                fix="blockize the blocks of each parent separately",
            )
    level = walk.common_parent([b.op for b in blocks])
    if not (is_loop(level) or is_block(level) or isa(level, FuncOp)):
        refuse(
            level,
            "the blocks are in a condition; blockize needs blocks in the body of a loop or block",
            fix="blockize each of them by a loop of its own",
        )
    return level


def _nest(block: Block, top: ir.Operation) -> list[Loop]:
    """The loops from `top` down to a block: a perfect nest without an init."""
    check(block.init is None, block, f'block "{block.name}" has an init; apply decompose_reduction first')
    check_unconditional(block)
    if not is_loop(top):
        return []
    inner = inner_loops(Loop(top), block)
    check_inner_bounds(inner)
    return inner


def _check_whole_sums(block: Block, parts: Sequence[Division]) -> None:
    """Refuse a reduction that the new block would divide."""
    for part in _moving(parts):
        if part.iter.kind == "R":
            refuse(
                block,
                f'the new block would divide the reduce iter {part.iter.name} of block "{block.name}"; around several '
                "blocks only spatial iters are divided",
                fix="blockize its nest alone, or reorder its reduction loops into the nest",
            )


def _check_same_outside(
    first: Block,
    first_parts: Sequence[Division],
    wanted_guards: Sequence[Constraint],
    block: Block,
    parts: Sequence[Division],
    guards: Sequence[Constraint],
) -> None:
    """Refuse unless two blocks have the same outer iters, except those of one tile, under the same conditions."""
    first_moving, moving = _moving(first_parts), _moving(parts)
    same = len(first_moving) == len(moving) and all(
        a.outer.is_equal_to(b.outer) and a.outer_extent.is_equal_to(b.outer_extent)
        for a, b in zip(first_moving, moving, strict=True)
    )
    if not same:
        listed = [", ".join(f"{p.iter.name}: {_extent(p)}" for p in group) for group in (first_moving, moving)]
        refuse(
            block,
            f'the outer parts of the iters of block "{block.name}" ({listed[1]}) differ from those of '
            f'block "{first.name}" ({listed[0]}) in order, extent or binding',
            fix="reorder_block_iter_var puts their iters in one order",
        )
    alike = len(wanted_guards) == len(guards) and all(
        any(a.is_eq == b.is_eq and a.index.is_equal_to(b.index) for b in wanted_guards) for a in guards
    )
    check(
        alike, block, f'the guards of blocks "{first.name}" and "{block.name}" on outer loops differ', fix=AVOID_GUARD
    )


def _extent(part: Division) -> str:
    number = part.outer_extent.as_constant()
    return "a symbolic number" if number is None else str(number)


def _outer_block(
    name: str, specs: Sequence[IterSpec], outside: Sequence[Constraint], tops: Sequence[ir.Operation]
) -> Block:
    """Create the block instead of the first nest, and move all nests into it."""
    with ir.InsertionPoint(tops[0]), tops[0].location:
        holder = create.where(outside) if outside else None
        ip = create.at_end(holder.regions[0].blocks[0]) if holder is not None else ir.InsertionPoint(tops[0])
        with ip:
            outer = create.block(name, specs)
    for top in tops:
        edit.move_before(top, list(outer.body.operations)[-1])
    return outer


# --- one loop nest ----------------------------------------------------------------------------------------------------


def check_bindings_affine(block: Block) -> None:
    """Refuse a block with a binding that is data: its loads use loops that would be outside the new block."""
    search = outermost_with_searches(block)
    if search != block.guarded_op:
        refuse(
            block,
            f'a binding of block "{block.name}" is not affine, and is computed from the loops around it',
            fix="in the program, compute it inside the block: as an index, or a condition",
        )


def check_unconditional(block: Block) -> None:
    """Refuse a block whose guard or binding is data: its loads use loops that would be outside the new block."""
    check_bindings_affine(block)
    check(
        block.guarded_op == block.outermost,
        block,
        f'block "{block.name}" runs only where a condition on data holds, which uses the loops around it',
        fix="in the program, put the condition into the block: if ...: around its statements",
    )


def inner_loops(target: Loop, block: Block, computes: bool = False) -> list[Loop]:
    """The loops from `target` down to the block, a perfect nest. computes: it may compute a condition of the block."""
    loops = loops_above(block.op)
    inner = loops[loops.index(target) :]
    for loop in inner:
        if len([op for op in loop.body_ops() if not computes or not is_computation(op)]) != 1:
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
    """Guards that remain outside, and guards for the inner block: on one iter (with its division) or on inner loops."""
    inner_vars = {lp.var for lp in inner}
    outside: list[Constraint] = []
    inner_guards: list[tuple[Constraint, Division | None]] = []
    for guard in (_tile_guard(g, inner) for g in guards):
        uses = [v in inner_vars for v in guard.index.values if walk.enclosing_loop_name(v) is not None]
        if not any(uses):
            outside.append(guard)
        elif (on_iter := _guard_on_iter(guard, parts)) is not None:
            rule, part = on_iter
            if part.size == 1 and part.inner.as_constant() is not None:  # the tile is one point of this iter
                point = {part.iter.var: part.start(part.outer)}
                moved = Constraint(rule.index.substitute(point).simplify(), rule.is_eq)
                if moved.is_eq or not intervals.at_least_zero(moved.index, intervals.enclosing_ranges(inner[0].op)):
                    outside.append(moved)
            else:
                inner_guards.append(on_iter)
                outside += _possible(guard, inner)
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


def _tile_guard(guard: Constraint, inner: Sequence[Loop]) -> Constraint:
    """The guard without the loops of a tile, if it holds in all of their iterations or in none.

    159 - j * 16 - l >= 0 for l from 0 to 15  ->  144 - j * 16 >= 0, as 159 - j * 16 is 15 modulo 16
    """
    split = intervals.split_linear(guard.index, [lp.var for lp in inner])
    counts = [lp.const_extent for lp in inner]
    if guard.is_eq or split is None or None in counts or any(lp.lower.as_constant() != 0 for lp in inner):
        return guard
    least, most = (
        sum(pick(0, f * ((n or 1) - 1)) for f, n in zip(split.factors, counts, strict=True)) for pick in (min, max)
    )
    terms, constant = intervals.linear_terms(split.rest.expr)
    period = gcd(*terms.values())
    if not any(split.factors) or period == 0:
        return guard
    first = -most + (constant + most) % period  # the least number from -most on that the outside may be
    return guard if first < -least else Constraint((split.rest + least).simplify())


def _possible(guard: Constraint, inner: Sequence[Loop]) -> list[Constraint]:
    """The condition that a tile has an iteration in which a guard holds, if there may be a tile without one."""
    split = intervals.split_linear(guard.index, [lp.var for lp in inner])
    counts = [lp.const_extent for lp in inner]
    if guard.is_eq or split is None or None in counts or any(lp.lower.as_constant() != 0 for lp in inner):
        return []
    most = sum(max(0, f * ((n or 1) - 1)) for f, n in zip(split.factors, counts, strict=True))
    index = (split.rest + most).simplify()
    return [] if intervals.at_least_zero(index, intervals.enclosing_ranges(inner[0].op)) else [Constraint(index)]


def _guard_on_iter(guard: Constraint, parts: Sequence[Division]) -> tuple[Constraint, Division] | None:
    """The guard as a condition on one iter: guard = sign * iter + rest, with rest free of loops; None if it is not."""
    for part in parts:
        for sign in (1, -1):
            remainder = (guard.index - part.iter.binding * sign).simplify()
            if all(walk.enclosing_loop_name(v) is None for v in remainder.values):
                return Constraint(Index.from_value(part.iter.var) * sign + remainder, guard.is_eq), part
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
                return Constraint((last - Index.from_value(it.var)).simplify()), part
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
    def from_block(cls, block: Block) -> DeclaredRegions:
        return cls(BlockRegions.from_block(block), NestedRegions.from_op(block.op))


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
        conditions = [Constraint(g.index.substitute(through).simplify(), g.is_eq) for g, _ in guards]
        ip = ir.InsertionPoint(anchor)
        if conditions:
            ip = create.at_end(create.where(conditions).regions[0].blocks[0])
        with ip:
            new = create.block(block.name, specs, facts)
    edit.set_attribute(new.op, attrs.ID, attrs.to_attr(number))
    inner = {p.iter.name: Index.from_value(i.var) for p, i in zip(tiled, new.iters, strict=True)}
    mapping = {}
    for part in parts:
        start = tile_start(part, starts, keep_units)
        mapping[part.iter.var] = (start + inner.get(part.iter.name, 0)).simplify()
    if block.init is not None:
        edit.erase(block.init)
    edit.substitute(mapping)
    fold_known(block.op)
    edit.move_body(block.body, new.body)
    for key in attrs.OF_REGIONS:
        attrs.put(new.op, key, attrs.get(block.op, key))
    old_regions.own.restore(new, mapping, updates=has_init)
    old_regions.below.redeclare(mapping)
    edit.erase(anchor)
