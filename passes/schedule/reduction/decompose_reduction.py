"""decompose_reduction: split the init of a reduction into a block of its own."""

from __future__ import annotations

from collections.abc import Sequence

from mlir import ir

from tir_mlir.dialect.analysis.accesses import accesses
from tir_mlir.dialect.diagnostics import emit_remark
from tir_mlir.dialect.ir import (
    Block,
    Buffer,
    Constraint,
    Index,
    IterSpec,
    Loop,
    attrs,
    create,
    edit,
    freeze_modules,
    loops_above,
    owner_op,
    walk,
)
from tir_mlir.dialect.presburger import intervals
from tir_mlir.passes.schedule.edits import BlockRegions
from tir_mlir.passes.schedule.legality import (
    check_always_begins,
    check_init_runs,
    check_read_after,
    check_reduction,
    check_visits_once,
    writes_of,
)
from tir_mlir.passes.schedule.registry import ADD_INIT, PASS_OWN_LOOP, check, primitive, refuse


@primitive("decompose_reduction")
def decompose_reduction(block: Block, loop: Loop) -> Block:
    """Split a reduction into an init block and an update block.

        for i, k in T.grid(n, m):                    for i_init in range(n):
            with T.block("b"):                           with T.block("b_init"):
                vi, vk = remap("SR", [i, k])                 vi = S(n, i_init)
                with T.init():                   ->          C[vi] = 0
                    C[vi] = 0                        for i, k in T.grid(n, m):
                C[vi] += A[vi, vk]                       with T.block("b_update"): C[vi] += A[vi, vk]

    The init block is inserted directly before `loop` and runs over the loops at or under it that the spatial iters use.
    The handle of the block remains with the update; the init block is returned.

    A reduction over an empty domain (a size may be 0) has the value of its init, which compiled code writes before and
    after the step (`tir-lower-empty-reductions`).

    Requires: a reduction block, whose ordered iters use only loops above `loop`; `loop` is around it and at or above
    every loop that a reduce iter uses; nothing else under `loop` writes the block's results or the inputs of its init,
    or reads a result that is not written before in the same iteration of `loop`; the loops from `loop` on visit every
    point of the block once, including the start of its reductions.
    """
    with freeze_modules():
        loops = loops_above(block.op)
        check_reduction(block, ADD_INIT, within=loop if loop in loops else None)
        _check_own(loop, loops, block)
        below = loops[loops.index(loop) :]
        _check_whole_sums(block, loop, below)
        for buffer in writes_of(block):
            check_read_after(block, loop, Buffer(buffer), "the init")
        _check_inputs(block, loop)
        check_init_runs(block)
        check_visits_once(block, below)
        conditions = _kept_guards(block, below)
        check_always_begins(block, below, conditions)
        regions = BlockRegions.from_block(block)
        _note(block, below)

    init_block = _init_block(block, loop, below, conditions)
    regions.restore(block, updates=True)
    return init_block


def _init_block(block: Block, loop: Loop, below: Sequence[Loop], conditions: Sequence[Constraint]) -> Block:
    """Move the init of a block into a block of its own before `loop`, in copies of the loops that it needs."""
    spatial = [i for i in block.iters if i.kind != "R"]
    spatial_loops = walk.loops_behind(below, {v for i in spatial for v in i.binding.values})
    name, init_op = block.name, block.init
    ip, variables = create.copy_loops(spatial_loops, ir.InsertionPoint(loop.op), "_init")
    with ip, block.op.location:
        if conditions:
            moved = [Constraint(c.index.substitute(variables), c.is_eq) for c in conditions]
            ip = create.at_end(create.where(moved).regions[0].blocks[0])
        with ip:
            specs = [IterSpec.like(i, i.binding.substitute(variables)) for i in spatial]
            init_block = create.block(f"{name}_init", specs, block.annotations)
    body = init_op.regions[0].blocks[0]  # type: ignore[union-attr]
    edit.move_body(body, init_block.body)
    edit.substitute(
        {o.var: Index.from_value(n.var) for o, n in zip(spatial, init_block.iters, strict=True)}, init_block.op
    )
    edit.erase(init_op)  # type: ignore[arg-type]
    edit.set_attribute(block.op, attrs.BLOCK, ir.StringAttr.get(f"{name}_update"))
    return init_block


def _note(block: Block, below: Sequence[Loop]) -> None:
    names = ", ".join(f"`{loop.name}`" for loop in below)
    loops = f"the loops from `{below[0].name}` on ({names})"
    emit_remark(f"{loops} run each point of block `{block.name}` once, the start of its reductions among them")
    sums = ", ".join(f"`{it.name}`" for it in block.iters if it.kind == "R")
    emit_remark(f"all of {sums} runs under `{below[0].name}`, so that the init runs once for each element")


def _check_whole_sums(block: Block, loop: Loop, below: Sequence[Loop]) -> None:
    """Refuse when a reduce iter uses a loop outside `loop`, even through an enclosing block."""
    inner = {lp.var for lp in below}
    for it in (i for i in block.iters if i.kind == "R"):
        for value in it.binding.values:
            if value not in inner and (name := walk.enclosing_loop_name(value)) is not None:
                refuse(
                    Loop(owner_op(value)),
                    f"reduce iter {it.name} uses loop {name}, which is outside loop {loop.name}: the init "
                    f"would run again in the middle of the reduction; choose {name} or a loop above it",
                )


def _check_own(loop: Loop, loops: Sequence[Loop], block: Block) -> None:
    names = ", ".join(lp.name for lp in loops) or "none"
    text = f'loop {loop.name} is not around block "{block.name}" (its loops: {names})'
    check(loop in loops, loop, text, fix=PASS_OWN_LOOP)


def _check_inputs(block: Block, loop: Loop) -> None:
    """Refuse when an input of the init is written under `loop`, and thus not final before it."""
    read = {a.buffer for a in accesses(block.op) if not a.is_write and walk.is_inside(a.op, block.init)}  # type: ignore[arg-type]
    for access in accesses(loop.op):
        if access.is_write and access.buffer in read:
            writer = walk.enclosing_block(access.op)
            refuse(
                writer,
                f"{writer} writes {Buffer(access.buffer).name} under loop {loop.name}, and the init reads "
                "it, so the init cannot be hoisted out of the loop; choose an inner loop",
            )


def _kept_guards(block: Block, below: list[Loop]) -> list[Constraint]:
    """The guards that the init needs: those on spatial iters, and the others specialized to the start of the
    reduction.
    """
    if block.where is None:
        return []
    spatial = {v for i in block.iters if i.kind == "S" for v in i.binding.values}
    reduce = {v for i in block.iters if i.kind == "R" for v in i.binding.values}
    dropped = {lp.var for lp in below} - spatial
    units = {lp.var: lp.lower for lp in below if lp.var in dropped and lp.const_extent == 1}
    conditions = []
    for c in walk.constraints(block.where):
        c = Constraint(c.index.substitute(units).simplify(), c.is_eq)
        uses = [v in dropped or v in reduce for v in c.index.values if walk.enclosing_loop_name(v) is not None]
        if not any(uses):
            conditions.append(c)
        elif not all(uses) or any(v in spatial for v in c.index.values):
            conditions += _condition_at_start(block, c, [lp for lp in below if lp.var in dropped])
    return conditions


def _condition_at_start(block: Block, condition: Constraint, loops: list[Loop]) -> list[Constraint]:
    """A condition at the first iteration of the loops that the init does not run; empty if it always holds there."""
    starts: dict[ir.Value, Index] = {}
    for loop in loops:
        starts[loop.var] = loop.lower.substitute(starts)
    first = condition.index.substitute(starts).simplify()
    holds = not condition.is_eq and intervals.at_least_zero(first, intervals.enclosing_ranges(block.op))
    return [] if holds else [Constraint(first, condition.is_eq)]
