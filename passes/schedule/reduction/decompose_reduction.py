"""decompose_reduction: the init of a reduction becomes a block of its own."""

from __future__ import annotations

from collections.abc import Sequence

from mlir import ir

from tir_mlir.dialect.analysis.accesses import accesses
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
    loops_above,
    owner_op,
    walk,
)
from tir_mlir.dialect.presburger import intervals
from tir_mlir.passes.schedule.edits import Signature
from tir_mlir.passes.schedule.legality import (
    START,
    check_begins,
    check_reduction,
    check_runs_once,
    check_starts,
    writes_of,
)
from tir_mlir.passes.schedule.registry import check, primitive, refuse


@primitive("decompose_reduction")
def decompose_reduction(block: Block, loop: Loop) -> Block:
    """Split a reduction into a block that initialises and a block that updates.

        for i, k in T.grid(n, m):                    for i_init in range(n):
            with T.block("b"):                           with T.block("b_init"):
                vi, vk = remap("SR", [i, k])                 vi = S(n, i_init)
                with T.init():                   ->          C[vi] = 0
                    C[vi] = 0                        for i, k in T.grid(n, m):
                C[vi] += A[vi, vk]                       with T.block("b_update"): C[vi] += A[vi, vk]

    The init block stands directly before `loop` and runs over the loops at or beneath it that the spatial iters use.
    The handle of the block stays with the update; the init block is returned.

    A reduction over no iterations at all (a size may be 0) wrote nothing; it gives its init now. A declared reduction
    leaves that open.

    Requires: a reduction block; `loop` is around it and at or above every loop that a reduce iter uses; nothing else
    beneath `loop` touches what the block writes, or writes what the init reads; the loops from `loop` on meet every
    point of the block once, and where a sum begins too.
    """
    check_reduction(block, START)
    loops = loops_above(block.op)
    _check_own(loop, loops, block)
    below = loops[loops.index(loop) :]
    _check_whole_sums(block, loop, below)
    _check_alone(block, loop)
    _check_inputs(block, loop)
    check_starts(block)
    check_runs_once(block, below)
    conditions = _kept_guards(block, below)
    check_begins(block, below, conditions)
    signature = Signature.of(block)

    spatial = [i for i in block.iters if i.kind == "S"]
    used = [lp for lp in below if any(lp.var in i.binding.values for i in spatial)]
    name, init_op = block.name, block.init
    ip, variables = _init_loops(used, loop)
    with ip, block.op.location:
        if conditions:
            moved = [Constraint(c.index.substitute(variables), c.is_eq) for c in conditions]
            ip = create.at_end(create.where(moved).regions[0].blocks[0])
        with ip:
            specs = [IterSpec(i.name, i.kind, i.min, i.extent, i.binding.substitute(variables)) for i in spatial]
            made = create.block(f"{name}_init", specs, block.annotations)
    body = init_op.regions[0].blocks[0]  # type: ignore[union-attr]
    edit.move_body(body, made.body)
    edit.substitute({o.var: Index.of(n.var) for o, n in zip(spatial, made.iters, strict=True)}, made.op)
    edit.erase(init_op)  # type: ignore[arg-type]
    block.op.attributes[attrs.BLOCK] = ir.StringAttr.get(f"{name}_update")
    signature.keep(block, updates=True)
    return made


def _check_whole_sums(block: Block, loop: Loop, below: Sequence[Loop]) -> None:
    """Refuse when a reduce iter uses a loop further out, be it around a block that only groups."""
    inner = {lp.var for lp in below}
    for it in (i for i in block.iters if i.kind == "R"):
        for value in it.binding.values:
            if value not in inner and (name := walk.enclosing_loop_name(value)) is not None:
                refuse(
                    Loop(owner_op(value)),
                    f"reduce iter {it.name} uses loop {name}, which is outside loop {loop.name}: the init would run"
                    f" again in the middle of the sum; choose {name} or a loop above it",
                )


def _check_own(loop: Loop, loops: Sequence[Loop], block: Block) -> None:
    names = ", ".join(lp.name for lp in loops) or "none"
    text = f'loop {loop.name} is not around block "{block.name}" (its loops: {names})'
    check(loop in loops, loop, text, fix="name one of its own loops")


def _init_loops(used: list[Loop], before: Loop) -> tuple[ir.InsertionPoint, dict[ir.Value, Index]]:
    """Loops like `used`, in front of `before`: the place inside them, and what stands for the old variables."""
    variables: dict[ir.Value, Index] = {}
    ip = ir.InsertionPoint(before.op)
    for old in used:
        with ip, old.op.location:
            bounds = old.lower.substitute(variables), [u.substitute(variables) for u in old.uppers]
            new = create.loop(f"{old.name}_init", *bounds, old.kind, old.annotations)
        variables[old.var] = Index.of(new.var)
        ip = create.at_end(new.body)
    return ip, variables


def _check_alone(block: Block, loop: Loop) -> None:
    """Refuse when something else beneath `loop` touches the result: it could see it before it was initialised anew."""
    written = set(writes_of(block))
    for access in accesses(loop.op):
        if access.buffer in written and not walk.is_inside(access.op, block.op):
            other = walk.enclosing_block(access.op)
            refuse(
                other,
                f"{Buffer(access.buffer).name} is also used by {other} beneath loop {loop.name}, so its init cannot be"
                " moved before the loop; choose a loop further in",
            )


def _check_inputs(block: Block, loop: Loop) -> None:
    """Refuse when what the init reads is written beneath `loop`: before the loop it is not there yet, or different."""
    read = {a.buffer for a in accesses(block.op) if not a.is_write and walk.is_inside(a.op, block.init)}  # type: ignore[arg-type]
    for access in accesses(loop.op):
        if access.is_write and access.buffer in read:
            other = walk.enclosing_block(access.op)
            refuse(
                other,
                f"{other} writes {Buffer(access.buffer).name} beneath loop {loop.name}, and the init reads it, so the"
                " init cannot be moved before the loop; choose a loop further in",
            )


def _kept_guards(block: Block, below: list[Loop]) -> list[Constraint]:
    """The conditions of the guard that the init needs: those on spatial iters, and what the others say where the sum
    starts."""
    if block.where is None:
        return []
    spatial = {v for i in block.iters if i.kind == "S" for v in i.binding.values}
    reduce = {v for i in block.iters if i.kind == "R" for v in i.binding.values}
    dropped = {lp.var for lp in below} - spatial
    units = {lp.var: lp.lower for lp in below if lp.var in dropped and lp.const_extent == 1}
    kept = []
    for c in walk.constraints(block.where):
        c = Constraint(c.index.substitute(units).simplified(), c.is_eq)
        uses = [v in dropped or v in reduce for v in c.index.values if walk.enclosing_loop_name(v) is not None]
        if not any(uses):
            kept.append(c)
        elif not all(uses) or any(v in spatial for v in c.index.values):
            kept += _at_start(block, c, [lp for lp in below if lp.var in dropped])
    return kept


def _at_start(block: Block, condition: Constraint, loops: list[Loop]) -> list[Constraint]:
    """What a condition says of the first iteration of the loops that are left out: nothing if it always holds there."""
    starts: dict[ir.Value, Index] = {}
    for loop in loops:
        starts[loop.var] = loop.lower.substitute(starts)
    first = condition.index.substitute(starts).simplified()
    holds = not condition.is_eq and intervals.at_least_zero(first, intervals.around(block.op))
    return [] if holds else [Constraint(first, condition.is_eq)]
