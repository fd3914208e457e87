"""blockize: turn the loop nest of a tile into a block."""

from __future__ import annotations

from collections.abc import Sequence

from mlir import ir

from tir_mlir.dialect.ir import (
    Block,
    Constraint,
    Index,
    IterSpec,
    Loop,
    blocks_below,
    create,
    edit,
    frozen,
    loops_above,
    walk,
)
from tir_mlir.passes.schedule.blocks.blockize_nest import (
    DeclaredRegions,
    check_inner_bounds,
    check_unconditional,
    inner_block,
    inner_loops,
    split_guards,
    tile_start,
)
from tir_mlir.passes.schedule.blocks.blockize_several import blockize_several
from tir_mlir.passes.schedule.blocks.tile_bindings import Division, divide_bindings
from tir_mlir.passes.schedule.legality import check_init_runs, check_visits_once, refuse_ordered
from tir_mlir.passes.schedule.registry import primitive, refuse


@primitive("blockize")
def blockize(target: Loop | list[Block], preserve_unit_iters: bool = True) -> Block:
    """Turn the nest at and under a loop into one block around the block it contains; or do so for a list of blocks.

        for i_0, i_1 in T.grid(4, 16):           for i_0 in range(4):
            with T.block("b"):                       with T.block("b_o"):
                vi = S(64, i_0 * 16 + i_1)  ->           vi_o = S(4, i_0)
                body(vi)                                 for i_1 in range(16):
                                                             with T.block("b"):
                                                                 vi_i = S(16, i_1)
                                                                 body(vi_o * 16 + vi_i)

    An init moves to the outer block, as a nest of its own around the block "b_init". The handle stays with the inner
    block; the outer one is returned.

    Given a list of blocks with adjacent nests and equal outer parts, everything under their common parent goes into one
    block "outer_<name>_<name>_" with the iters of the first one, ordered where one of the blocks needs the order; iters
    that no outer loop moves need no counterpart.

    Requires: the nest contains exactly one block; every binding is outer part * size + inner part, with the inner part
    covering [0, size), or no outer loop moves it; the bounds of the inner loops do not depend on outer loops; a guard
    constrains whole iters, outer loops, or inner loops, not data. With an init, no inner loop merely repeats the block.
    The blocks of a list have no init, their reduce iters lie within the new block, and its iterations are independent.
    """
    if not isinstance(target, Loop):
        return blockize_several(target, preserve_unit_iters)
    with frozen():
        block = _only_block(target)
        _check_init(block)
        check_unconditional(block)
        inner = inner_loops(target, block)
        if block.init is not None:
            check_visits_once(block, inner)
        check_inner_bounds(inner)
        parts = divide_bindings(inner, block)
        guards = walk.constraints(block.where) if block.where is not None else []
        outside, inside = split_guards(guards, parts, inner, block)
    return _rewrite(target, block, parts, (outside, inside), preserve_unit_iters)


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
    outside, inside = guards
    name, number, before = block.name, block.id, DeclaredRegions.of(block)
    specs = [IterSpec(f"{p.iter.name}_o", p.iter.kind, 0, p.outer_extent, p.outer, p.iter.is_wide) for p in parts]
    with ir.InsertionPoint(target.op), block.op.location:
        holder = create.where(outside) if outside else None
        ip = create.at_end(holder.regions[0].blocks[0]) if holder is not None else ir.InsertionPoint(target.op)
        with ip:
            outer = create.block(f"{name}_o", specs)
    starts = {p.iter.name: p.start(Index.of(o.var)) for p, o in zip(parts, outer.iters, strict=True)}
    edit.move_before(target.op, list(outer.body.operations)[-1])
    if block.init is not None:
        _move_init(outer, block, parts, starts, inside, keep_units)
    inner = Block(walk.find(outer.op, number))  # type: ignore[arg-type]
    inner_block(inner, before, parts, starts, inside, keep_units)
    before.own.extend_outer(outer)
    return outer


def _move_init(outer: Block, block: Block, parts, starts: dict[str, Index], guards, keep_units: bool) -> None:
    """Move the init into the outer block's init, as a nest over the tile around the block "<name>_init"."""
    used = {v for op in walk.ops(block.init) for v in op.operands}  # type: ignore[arg-type]
    spatial = [p for p in parts if p.iter.kind != "R" and p.size != 1 and p.iter.var in used]
    with create.at_start(outer.body), block.op.location:
        init = create.init(outer)
    nest = walk.loops_behind(loops_above(block.op), {v for p in spatial for v in p.inner.values})
    inside, variables = create.copy_loops(nest, create.at_end(init.regions[0].blocks[0]))
    starts = {p.iter.name: tile_start(p, starts, keep_units) for p in parts}
    points = {p.iter.name: p.inner.substitute(variables) if p.size != 1 else Index.constant(0) for p in parts}
    through = {p.iter.var: starts[p.iter.name] + points[p.iter.name] for p in parts}
    conditions = [
        Constraint(g.index.substitute(through).simplified(), g.is_eq)
        for g, p in guards
        if p is not None and p.iter.kind != "R"
    ]
    with inside, block.op.location:
        ip = create.at_end(create.where(conditions).regions[0].blocks[0]) if conditions else inside
        with ip:
            specs = [
                IterSpec(f"{it.name}_i_init", it.kind, 0, p.size, p.inner.substitute(variables), it.is_wide)
                for p in spatial
                for it in (p.iter,)
            ]
            fresh = create.block(f"{block.name}_init", specs)
    inner = {p.iter.name: Index.of(i.var) for p, i in zip(spatial, fresh.iters, strict=True)}
    mapping = {p.iter.var: (starts[p.iter.name] + inner.get(p.iter.name, 0)).simplified() for p in parts}
    init_body = block.init.regions[0].blocks[0]  # type: ignore[union-attr]
    edit.move_body(init_body, fresh.body)
    edit.substitute(mapping, fresh.op)
