"""Run the init of a reduction that has no iterations."""

from __future__ import annotations

from collections.abc import Sequence

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
    is_block,
    is_loop,
    loops_above,
    parent_op,
    walk,
)
from tir_mlir.dialect.presburger import intervals
from tir_mlir.passes.lower.registry import Content, lowering, programs


@lowering(
    "tir-lower-empty-reductions",
    "Run the init of reductions that have no iterations",
    works_on=Content(attributes={attrs.INIT}),
)
def run(module: ir.Module) -> None:
    """Add the init of each reduction that may have no terms, for sizes with which it has none.

        affine.for %i = 0 to 8 {               affine.for %i = 0 to 8 {
          affine.for %k = 0 to %n {              affine.if (-%n >= 0) { C[%i] = 0 }
            if %k == 0 { C[%i] = 0 }   -->       affine.for %k = 0 to %n {
            C[%i] += A[%i, %k]                     if %k == 0 { C[%i] = 0 }
                                                   C[%i] += A[%i, %k]

    The init is part of the first iteration of a reduction, so that without it an empty sum would keep what was in
    memory. The added nest is before the outermost loop that a reduce iter uses, over the loops below it that spatial
    iters use. A reduction whose extent is positive for all sizes remains as it is, and so does one whose loops are
    fused with spatial ones, or under other conditions than its guard. Requires blocks.
    """
    for func in programs(module):
        for op in walk.ops(func.op):
            if is_block(op) and Block(op).init is not None:
                _add_inits(Block(op))


def _add_inits(block: Block) -> None:
    box = intervals.enclosing_ranges(block.op)
    extents = [i.extent for i in block.iters if i.kind == "R" and not intervals.at_least_zero(i.extent - 1, box)]
    if not extents or not _is_closed(block):
        return
    loops = loops_above(block.op)
    reduced = walk.loops_behind(loops, {v for i in block.iters if i.kind == "R" for v in i.binding.values})
    if not reduced:
        return
    below = loops[loops.index(reduced[0]) :]
    spatial = walk.loops_behind(below, {v for i in block.iters if i.kind != "R" for v in i.binding.values})
    if any(loop in reduced and loop.const_extent != 1 for loop in spatial) or not _is_plain(block, below[0]):
        return
    guards = [] if block.where is None else walk.constraints(block.where)
    variables = {loop.var for loop in reduced if loop not in spatial}
    if any(variables & {*c.index.values} and not variables >= _loop_variables(c) for c in guards):
        return
    outer_guards = [c for c in guards if not variables & {*c.index.values}]
    for extent in extents:
        _add_init(block, Constraint(-extent), below[0], spatial, outer_guards)


def _loop_variables(condition: Constraint) -> set[ir.Value]:
    return {v for v in condition.index.values if walk.enclosing_loop_name(v) is not None}


def _is_closed(block: Block) -> bool:
    """Whether the init uses nothing that the block computes around it."""
    init = block.init
    assert init is not None
    iters = {i.var for i in block.iters}
    for value in (v for op in walk.ops(init) if op != init for v in op.operands):
        owner = value.owner if isinstance(value.owner, ir.Block) else value.owner.operation.block
        if owner == block.body and value not in iters:
            return False
    return True


def _is_plain(block: Block, top: Loop) -> bool:
    """Whether only loops and the guard of the block are between it and a loop around it."""
    op = block.outermost
    while op != top.op:
        op = parent_op(op)
        if not is_loop(op):
            return False
    return True


def _add_init(
    block: Block, empty: Constraint, top: Loop, spatial: Sequence[Loop], guards: Sequence[Constraint]
) -> None:
    """Add a nest with the init before the loop `top`, under the condition that the reduction is empty."""
    ip = ir.InsertionPoint(top.op)
    iters = [i for i in block.iters if i.kind != "R"]
    with block.op.location:
        if empty.index.as_constant() is None:
            with ip:
                ip = create.at_end(create.guard([empty]).regions[0].blocks[0])
        ip, variables = create.copy_loops(spatial, ip, "_empty", serial=True)
        if guards:
            with ip:
                moved = [Constraint(c.index.substitute(variables), c.is_eq) for c in guards]
                ip = create.at_end(create.where(moved).regions[0].blocks[0])
        with ip:
            specs = [IterSpec(i.name, i.kind, i.min, i.extent, i.binding.substitute(variables)) for i in iters]
            added = create.block(f"{block.name}_empty", specs)
    starts = {i.var: i.min for i in block.iters if i.kind == "R"}
    starts |= {old.var: Index.from_value(new.var) for old, new in zip(iters, added.iters, strict=True)}
    init = block.init
    assert init is not None
    end = create.at_end(added.body)
    copies: dict[ir.Value, ir.Value] = {}
    for op in list(init.regions[0].blocks[0].operations)[:-1]:
        copy = edit.clone(op.operation, end, copies)
        edit.renumber(copy)
        copies |= dict(zip(op.operation.results, copy.results, strict=True))
    edit.substitute(starts, added.op)
