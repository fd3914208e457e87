"""The blocks of one scope (the body of a block or function): producers, consumers, complete and reduction blocks, and
those with ops that may trap.
"""

from __future__ import annotations

from collections.abc import Iterable

from mlir import ir

from tir_mlir.dialect.analysis.accesses import accesses, touches
from tir_mlir.dialect.ir import (
    Block,
    Buffer,
    Constraint,
    Func,
    Loop,
    all_blocks,
    blocks_below,
    enclosing_block,
    is_block,
    is_init,
    is_loop,
    loops_above,
    nests_using,
    ops,
    parent_op,
    parents,
    top_of,
    used_dims,
    walk,
)
from tir_mlir.dialect.ir.op_traits import DIVISIONS
from tir_mlir.dialect.ir.op_views import AffineIfOp, ComputedAccessOp, isa
from tir_mlir.dialect.presburger import only_where, sets
from tir_mlir.passes.schedule.legality.ordered_iters import check_independent, refuse_ordered
from tir_mlir.passes.schedule.registry import JOIN_WRITERS, KEEP_INIT, RUN_FULL_REDUCTION, check, refuse

Scope = Block | Func


def scope_of(block: Block) -> Scope:
    """The block or function whose child `block` is."""
    return enclosing_block(block.op)


def children(scope: Scope) -> list[Block]:
    """The child blocks of a scope in program order, without those in init regions."""
    return blocks_below(scope.op)


def is_child(block: Block, scope: Scope) -> bool:
    """Whether a block is a child of a scope, not in an init region."""
    enclosing = parents(block.op)
    inner = enclosing[: enclosing.index(scope.op)] if scope.op in enclosing else [block.op]
    return scope.op in enclosing and not any(is_block(p) or is_init(p) for p in inner)


def children_using(scope: Scope, buffers: Iterable[ir.Value]) -> list[Block]:
    """The children of a scope, in program order, without those that use none of the buffers."""
    if isinstance(scope, Block):
        return children(scope)
    tops = nests_using(buffers)
    return [b for top in tops for b in ([Block(top)] if is_block(top) else blocks_below(top))]


def is_ahead(first: Block, second: Block) -> bool:
    """Whether a child of a scope comes before another one in program order."""
    first_top, second_top = top_of(first.op), top_of(second.op)
    if first_top != second_top:
        return first_top.is_before_in_block(second_top)
    order = all_blocks(first_top)
    return order.index(first) < order.index(second)


def reads_of(block: Block) -> list[ir.Value]:
    """Buffers a block reads, in order of appearance. The update of a reduction with an init does not count as a
    read.
    """
    block_touches = touches(block.op)
    hidden = {a.buffer for a in block_touches if a.is_write} if block.init is not None else set()
    return list(dict.fromkeys(a.buffer for a in block_touches if not a.is_write and a.buffer not in hidden))


def writes_of(block: Block) -> list[ir.Value]:
    """Buffers a block writes, in order of appearance."""
    return list(dict.fromkeys(a.buffer for a in touches(block.op) if a.is_write))


def _read(block: Block) -> set[ir.Value]:
    """Buffers a block reads, also as the update of a reduction."""
    return {a.buffer for a in touches(block.op) if not a.is_write}


def writers(scope: Scope, buffer: ir.Value) -> list[Block]:
    return [b for b in children_using(scope, [buffer]) if buffer in writes_of(b)]


def readers(scope: Scope, buffer: ir.Value) -> list[Block]:
    return [b for b in children_using(scope, [buffer]) if buffer in _read(b)]


def producers(block: Block) -> list[Block]:
    """Earlier children of the scope that write what `block` reads or writes."""
    used_buffers = {*reads_of(block), *writes_of(block)}
    result = []
    for sibling in children_using(scope_of(block), used_buffers):
        if sibling == block:
            break
        if used_buffers & set(writes_of(sibling)):
            result.append(sibling)
    return result


def consumers(block: Block) -> list[Block]:
    """Later children of the scope that read or write what `block` writes."""
    written = set(writes_of(block))
    later = False
    result = []
    for sibling in children_using(scope_of(block), written):
        if later and written & {*reads_of(sibling), *writes_of(sibling)}:
            result.append(sibling)
        later = later or sibling == block
    return result


def is_output(block: Block) -> bool:
    """Whether a block writes something that its scope did not allocate."""
    scope = scope_of(block)
    return any(not _owned_by(buffer, scope) for buffer in writes_of(block))


def _owned_by(buffer: ir.Value, scope: Scope) -> bool:
    owner = Buffer(buffer).op
    return owner is not None and enclosing_block(owner) == scope


def check_dominant(block: Block) -> None:
    """Refuse unless the block is the only writer in its scope of everything it writes."""
    scope = scope_of(block)
    for buffer in writes_of(block):
        if len(writers(scope, buffer)) > 1:
            names = ", ".join(f'"{b.name}"' for b in writers(scope, buffer))
            kind = "complete block" if block.init is None else "complete block or reduction"
            text = f"{Buffer(buffer).name} is written by several blocks ({names}), so none is a {kind}; "
            refuse(block, f"{text}it must have a single writer", fix=JOIN_WRITERS)


def check_self_contained(block: Block) -> None:
    """Refuse a block whose body uses loop variables instead of iters, so that it cannot move."""
    loops = {lp.var: lp for lp in loops_above(block.op)}
    if block.iters or not loops:
        return
    for op in ops(block.op):
        for value in op.operands:
            if value in loops:
                reason = f"uses loop {loops[value].name} itself, so it is not a complete block"
                refuse(block, f'block "{block.name}" has no iters and {reason}; bind the loop to an iter')


def check_complete(block: Block, reduction_fix: str = "", dominant: bool = True) -> None:
    """Refuse unless all iterations are independent, and the block is the only writer of its outputs and reads none.

    Its iters are spatial, ordered where no dependence needs the order, or of extent 1.

    `reduction_fix`: fix for a block with reduce iters. Without `dominant`, other blocks may write its outputs, too.
    """
    check_self_contained(block)
    for it in block.iters:
        text = f'block "{block.name}" has the reduce iter {it.name}, so it is not a complete block; all must be spatial'
        check(it.kind != "R" or it.extent.as_constant() == 1, block, text, reduction_fix)
    check_independent(block)
    if dominant:
        check_dominant(block)
    both = set(writes_of(block)) & _read(block)
    if both:
        name = Buffer(next(iter(both))).name
        way = f"in the program, let it write a buffer other than {name}"
        refuse(block, f'block "{block.name}" reads {name}, which it also writes: it is not a complete block', fix=way)


def check_reduction(
    block: Block, reduction_fix: str = KEEP_INIT, dominant: bool = True, within: Loop | None = None
) -> None:
    """Refuse unless the block has an init, S and R iters only, a single writer, and no store indexed by an R iter.

    `reduction_fix`: fix for a block that has reduce iters but no init. `dominant`: as for `check_complete`. `within`:
    only one iteration of the loops around this one counts; an ordered iter that they determine is like a spatial one.
    """
    if block.init is None:
        text = f'block "{block.name}" has no init, so it is not a reduction block'
        refuse(block, text, fix=reduction_fix if any(it.kind == "R" for it in block.iters) else "")
    check_self_contained(block)
    outer_vars = set() if within is None else {lp.var for lp in loops_above(within.op)}
    for it in block.iters:
        if it.kind == "O" and (within is None or not outer_vars.issuperset(it.binding.values)):
            refuse_ordered(block, it, "a reduction has spatial and reduce iters")
    check_independent(block)
    if dominant:
        check_dominant(block)
    reduce = {i.var for i in block.iters if i.kind == "R"}
    for access in accesses(block.op):
        if access.is_write and any(
            v in reduce for m in access.mins for d, v in enumerate(m.values) if d in used_dims(m.expr)
        ):
            refuse(
                block,
                f'block "{block.name}" stores to {Buffer(access.buffer).name} at an index that uses a reduce iter',
            )


def check_complete_or_reduction(block: Block, dominant: bool = True) -> None:
    """Refuse unless a block is complete or a reduction: rerunning an instance then gives the same values."""
    if block.init is not None:
        check_reduction(block, dominant=dominant)
    else:
        check_complete(block, KEEP_INIT, dominant)


def nest_top(block: Block) -> ir.Operation:
    """The outermost op of the block's private nest: loops and guards that contain nothing else."""
    top = block.outermost
    while True:
        parent = parent_op(top)
        plain = is_loop(parent) or isa(parent, AffineIfOp)
        if not plain or len(list(parent.regions[0].blocks[0].operations)) != 2:
            return top
        top = parent


def check_init_runs(block: Block) -> None:
    """Refuse a guard on reduce iters that excludes their start: the init never ran, and the rewrite would run it."""
    reduce = [i for i in block.iters if i.kind == "R"]
    loops = {v for i in reduce for v in i.binding.values}
    loops -= {v for i in block.iters if i.kind != "R" for v in i.binding.values}
    guards = walk.constraints(block.where) if block.where is not None else []
    loop_guards = [g for g in guards if set(g.index.values) <= loops]
    if not loop_guards:
        return
    start = sets.domain(block.op, extra=[g.index for g in loop_guards], guards=False)
    with sets.question(f'whether the init of block "{block.name}" runs'):
        for it in reduce:
            start.set = start.set.intersect(sets.constraint_set(start, Constraint(it.binding - it.min, is_eq=True)))
        out = [start.set.subtract(sets.constraint_set(start, g)) for g in loop_guards]
        missed = next((s for s in out if not s.is_empty()), None)
    if missed is not None:
        way = only_where(missed, block.op)
        text = f'the guard of block "{block.name}" excludes the start of its reduce iters: the init never runs{way}'
        refuse(block, text, fix=RUN_FULL_REDUCTION)


TRAPS = DIVISIONS | {"func.call", "llvm.intr.assume"}
_OR_GATHERS = TRAPS | ComputedAccessOp.names  # at indices that are not affine, thus may be data


def trapping_op(block: Block, gathers: bool = False) -> ir.Operation | None:
    """The first op of a block that may trap on unexpected values; with `gathers`, also accesses at loaded indices."""
    names = _OR_GATHERS if gathers else TRAPS
    return next((op for op in ops(block.op) if op.name in names), None)
